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

/** The ids of the adapters of each client. The SDK decides flags with equal ids together. */
const adapterIds = new WeakMap<object, symbol>()

/**
 * Creates an adapter for Vercel's Flags SDK over a local client. It never throws: a flag that cannot
 * be evaluated has its default value, else the fallback of its type. The first flag waits until the
 * client is ready, five seconds at most.
 */
export function ff<Values>(
  local: AdapterClient<Values>,
  { identify, dashboard }: AdapterOptions = {},
): FlagsAdapter<Values> {
  type Key = keyof Values & string
  const valueFor = (key: string, context: EvaluationContext = {}, fallback?: unknown) =>
    local.value(key as Key, context, fallback as Values[Key] | undefined)
  const adapterId = adapterIds.get(local) ?? Symbol('ff')
  adapterIds.set(local, adapterId)
  const adapter: Adapter<Values[Key], EvaluationContext> = {
    adapterId,
    initialize: async () => void (await local.ready()),
    ...(identify && { identify }),
    origin: (key) => pageOf(dashboard, key),
    decide: ({ key, entities, defaultValue }) => valueFor(key, entities, defaultValue),
    bulkDecide: ({ flags, entities }) =>
      Object.fromEntries(
        flags.map(({ key, defaultValue }) => [key, valueFor(key, entities, defaultValue)]),
      ),
  }
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

/**
 * Returns the flags of a client for the discovery endpoint of the Flags SDK, which the toolbar reads.
 * The endpoint must only answer requests with the SDK's secret: pass the result to
 * `createFlagsDiscoveryEndpoint` of `flags/next`, which checks it.
 */
export function getProviderData<Values>(
  { flags }: { readonly flags: Pick<FlagTypes<Values>, 'types'> },
  { dashboard }: Pick<AdapterOptions, 'dashboard'> = {},
): ProviderData {
  const definitions: ProviderData['definitions'] = {}
  for (const [key, type] of Object.entries<FlagType<unknown>>(flags.types)) {
    const origin = pageOf(dashboard, key)
    definitions[key] = {
      defaultValue: type.fallback as FlagValue,
      declaredInCode: true,
      ...(type.values && { options: type.values.map((value) => ({ value })) }),
      ...(origin !== undefined && { origin }),
    }
  }
  return { definitions, hints: [] }
}

function pageOf(dashboard: string | undefined, key: string): string | undefined {
  return dashboard && `${dashboard.replace(/\/+$/, '')}/flags/${encodeURIComponent(key)}`
}
