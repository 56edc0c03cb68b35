import type { ClientStatus, FlagClient, FlagDetail } from '@ff/client'
import type { FlagTypes } from '@ff/core/flag-types'
import {
  createContext,
  createElement,
  type ReactElement,
  useCallback,
  useContext,
  useSyncExternalStore,
} from 'react'
import { type Provided, provideOutside, Waits } from './provided.ts'
import { type FlagsProviderProps, useProviderClient } from './provider-client.ts'

/** The options of `useFlag`. */
export interface UseFlagOptions<Value> {
  /** Takes precedence over the fallback of the flag's type. */
  readonly fallback?: Value
  /**
   * `true` if the component suspends while no value is known, at most two seconds after the first
   * render of the provider. It never suspends on a server or while it is hydrated.
   */
  readonly suspend?: boolean
}

/** A provider and hooks for the flags of a program. Created by `createFlagHooks`. */
export interface FlagHooks<Values> {
  /** Gives a client to the hooks in its children. */
  readonly FlagsProvider: (props: FlagsProviderProps<Values>) => ReactElement
  /** Returns the value of a flag. The component renders again only when this value changes. */
  readonly useFlag: <Key extends keyof Values & string>(
    key: Key,
    options?: UseFlagOptions<Values[Key]>,
  ) => Values[Key]
  /** Returns the value of a flag with its origin, as `detail` of the client. */
  readonly useFlagDetail: <Key extends keyof Values & string>(key: Key) => FlagDetail<Values[Key]>
  /** Returns the `status` of the client. */
  readonly useFlagStatus: () => ClientStatus
  /** Returns the client. */
  readonly useFlagClient: () => FlagClient<Values>
}

/**
 * Creates a provider and hooks with the types of the flags. Outside of the provider, the hooks
 * return fallbacks, and a warning is written once.
 */
export function createFlagHooks<Values>(
  flags: Pick<FlagTypes<Values>, 'types'>,
): FlagHooks<Values> {
  const Context = createContext<Provided<Values> | undefined>(undefined)
  const waits = new Waits()
  let outside: Provided<Values> | undefined

  function useProvided(): Provided<Values> {
    const provided = useContext(Context)
    if (provided !== undefined) return provided
    outside ??= provideOutside(flags)
    return outside
  }

  function FlagsProvider(props: FlagsProviderProps<Values>): ReactElement {
    const value = useProviderClient(props, flags, waits)
    return createElement(Context.Provider, { value }, props.children)
  }

  function useFlag<Key extends keyof Values & string>(
    key: Key,
    { fallback, suspend }: UseFlagOptions<Values[Key]> = {},
  ): Values[Key] {
    const provided = useProvided()
    const { client, first } = provided
    let isFirst = false
    const value = useSyncExternalStore(
      useCallback((listener) => client.subscribe(key, listener), [client, key]),
      () => client.value(key, fallback),
      () => {
        isFirst = true
        return first().value(key, fallback)
      },
    )
    if (suspend && !isFirst) waits.suspend(provided)
    return value
  }

  /** Returns a part of the client that can change with each update. */
  function useWatched<Part>(partOf: (client: FlagClient<Values>) => Part): Part {
    const { client, first } = useProvided()
    return useSyncExternalStore(
      client.watch,
      () => partOf(client),
      () => partOf(first()),
    )
  }

  return {
    FlagsProvider,
    useFlag,
    useFlagDetail: (key) => useWatched((client) => client.detail(key)),
    useFlagStatus: () => useWatched((client) => client.status),
    useFlagClient: () => useProvided().client,
  }
}
