import type { EvaluationContext, FlagValue } from '@ff/core'
import type { FlagType, FlagTypes } from '@ff/core/flag-types'
import type { Adapter, FlagDeclaration, Identify, ProviderData } from 'flags'
import type { LocalClient } from './local-client-interface.ts'

/** The options of an adapter. */
export interface AdapterOptions {
  /** Returns the context of a request. Without it, flags are evaluated for the empty context. */
  readonly identify?: Identify<EvaluationContext>
  /**
   * The URL of the project in the dashboard, such as `https://flags.example.com/dashboard/p/shop`,
   * to which the pages of flags link.
   */
  readonly dashboard?: string
}

/** The client that evaluates the flags, and the flags of the program. */
export type AdapterClient<Values> = Pick<LocalClient<Values>, 'value' | 'ready' | 'flags'>

/** A declaration of one flag for `flag` of the Flags SDK, with the type of its values. */
export type Declared<Value> = FlagDeclaration<Value, EvaluationContext> & {
  readonly adapter: Adapter<Value, EvaluationContext>
}

/** An adapter for flags of Vercel's Flags SDK. */
export interface FlagsAdapter<Values> extends Adapter<Values[keyof Values], EvaluationContext> {
  /**
   * Returns the declaration of a flag: its key, the fallback as the default value, and all values
   * that it can have, if they are known. The result of `flag(shop.declare('theme'))` has the type of
   * the flag.
   */
  declare<Key extends keyof Values & string>(
    key: Key,
    more?: Partial<Pick<FlagDeclaration<Values[Key], EvaluationContext>, 'defaultValue'>>,
  ): Declared<Values[Key]>
}

/** What the adapters of one client share. */
interface Shared {
  /** The SDK decides flags with equal ids together. */
  readonly adapterId: symbol
  /** Resolves when the client is ready. Absent before the first decision. */
  ready?: Promise<unknown>
}

const sharedByClient = new WeakMap<object, Shared>()

/**
 * Creates an adapter for Vercel's Flags SDK over a local client. The first decision waits until the
 * client is ready, five seconds at most. The adapter never throws: a flag that cannot be evaluated
 * has its default value, else the fallback of its type. The SDK rejects if there is neither, or if
 * `identify` throws.
 */
export function ff<Values>(
  local: AdapterClient<Values>,
  options: AdapterOptions = {},
): FlagsAdapter<Values> {
  const adapter = adapterOf(local, options)
  return {
    ...adapter,
    declare(key, more) {
      const { fallback, values } = local.flags.types[key] ?? {}
      const options = values?.map((value) => ({ value }))
      const declared = {
        key,
        adapter,
        defaultValue: fallback,
        ...(options && { options }),
        ...more,
      }
      // The compiler cannot derive the type of one flag from the keys of all.
      return declared as unknown as Declared<Values[typeof key]>
    },
  }
}

function adapterOf<Values>(
  local: AdapterClient<Values>,
  { identify, dashboard }: AdapterOptions,
): Adapter<Values[keyof Values & string], EvaluationContext> {
  const shared: Shared = sharedByClient.get(local) ?? { adapterId: Symbol('ff') }
  sharedByClient.set(local, shared)
  // The SDK does not call `initialize` before it decides a flag.
  const whenReady = () => {
    shared.ready ??= local.ready()
    return shared.ready
  }
  const valueFor = (key: string, context: EvaluationContext = {}, fallback?: unknown) =>
    local.value(
      key as keyof Values & string,
      context,
      fallback as Values[keyof Values & string] | undefined,
    )
  return {
    adapterId: shared.adapterId,
    ...(identify && { identify }),
    origin: (key) => pageOf(dashboard, key),
    async decide({ key, entities, defaultValue }) {
      await whenReady()
      return valueFor(key, entities, defaultValue)
    },
    async bulkDecide({ flags, entities }) {
      await whenReady()
      return Object.fromEntries(
        flags.map(({ key, defaultValue }) => [key, valueFor(key, entities, defaultValue)]),
      )
    },
  }
}

/**
 * Returns the flags of a client for the discovery endpoint of the Flags SDK, which the toolbar reads.
 * The endpoint must only answer requests with the SDK's secret, the environment variable
 * `FLAGS_SECRET`. `createFlagsDiscoveryEndpoint` checks it and answers others with 401:
 *
 * ```ts
 * // app/.well-known/vercel/flags/route.ts
 * import { createFlagsDiscoveryEndpoint } from 'flags/next'
 *
 * export const GET = createFlagsDiscoveryEndpoint(() => getProviderData(local))
 * ```
 */
export function getProviderData<Values>(
  { flags }: { readonly flags: Pick<FlagTypes<Values>, 'types'> },
  { dashboard }: Pick<AdapterOptions, 'dashboard'> = {},
): ProviderData {
  const definitions = Object.entries<FlagType<unknown>>(flags.types).map(([key, type]) => {
    const origin = pageOf(dashboard, key)
    const definition = {
      defaultValue: type.fallback as FlagValue,
      declaredInCode: true,
      ...(type.values && { options: type.values.map((value) => ({ value })) }),
      ...(origin !== undefined && { origin }),
    }
    return [key, definition] as const
  })
  return { definitions: Object.fromEntries(definitions), hints: [] }
}

function pageOf(dashboard: string | undefined, key: string): string | undefined {
  return dashboard && `${dashboard.replace(/\/+$/, '')}/flags/${encodeURIComponent(key)}`
}
