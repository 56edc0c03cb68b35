import type { FlagClient, FlagClientOptions, FlagSnapshot } from '@ff/client'
import type { EvaluationContext } from '@ff/core'
import type { FlagTypes } from '@ff/core/flag-types'
import { contextTextOf } from '@ff/protocol/snapshot'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { createIdleClient, type Provided, type Wait, type Waits } from './provided.ts'

interface CommonProps {
  /**
   * The context of the values. Another context calls `setContext` of the client. Without it, the
   * client of `options` has the empty context, and the client of `client` keeps its own.
   */
  readonly context?: EvaluationContext | undefined
  /**
   * The values with which a server has rendered the page. The first render in the page reads these
   * values and nothing else, so that it equals the HTML.
   */
  readonly snapshot?: FlagSnapshot | undefined
  readonly children?: ReactNode
}

interface ClientProps<Values> extends CommonProps {
  /** A client of the application. The provider neither connects nor closes it. */
  readonly client: FlagClient<Values>
  readonly options?: undefined
}

/** The options of the provider itself. */
type Own = 'flags' | 'context' | 'bootstrap' | 'connect'

/** The options of a client without those that the provider sets. */
type ProviderOptions<Values> = Omit<FlagClientOptions<Values>, Own> & {
  readonly [Name in Own]?: never
}

interface OptionsProps<Values> extends CommonProps {
  readonly client?: undefined
  /**
   * The options of a client, which the provider connects when it is mounted and closes when it is
   * removed. Later options are ignored; a provider with another `key` creates another client.
   */
  readonly options: ProviderOptions<Values>
}

/** The properties of `FlagsProvider`: a client, or the options of a client. */
export type FlagsProviderProps<Values> = ClientProps<Values> | OptionsProps<Values>

interface ProviderState<Values> {
  /** The client that the provider has created. */
  own?: FlagClient<Values>
  /** The client with the values of the snapshot. */
  first?: FlagClient<Values>
  /** The client that has a context of the provider, and the text of this context. */
  applied?: readonly [client: FlagClient<Values>, contextText: string | undefined]
  readonly wait: Wait
}

/** Returns what a provider with these properties provides. */
export function useProviderClient<Values>(
  { client, options, context, snapshot }: FlagsProviderProps<Values>,
  flags: Pick<FlagTypes<Values>, 'types'>,
  waits: Waits,
): Provided<Values> {
  const wanted = context ?? (client ? undefined : {})
  const text = contextTextOf(wanted)
  const [state] = useState((): ProviderState<Values> => ({ wait: waits.begin() }))
  const create = (parts: Partial<FlagClientOptions<Values>> = {}) =>
    createIdleClient<Values>({
      ...parts,
      flags,
      ...(wanted && { context: wanted }),
      ...(snapshot && { bootstrap: snapshot }),
    })
  if (client === undefined && state.own === undefined) {
    state.own = create(options)
    state.applied = [state.own, text]
  }
  const used = client ?? (state.own as FlagClient<Values>)
  useEffect(() => {
    waits.mounted(state.wait)
    if (client) return undefined
    used.connect()
    return () => used.close()
  }, [used])
  useEffect(() => {
    const [holder, appliedText] = state.applied ?? []
    if (wanted === undefined || (holder === used && appliedText === text)) return
    state.applied = [used, text]
    void used.setContext(wanted)
  }, [used, text])
  return useMemo(() => {
    const first = () => {
      if (client && !snapshot) return client
      state.first ??= create()
      return state.first
    }
    return { client: used, first, wait: state.wait }
  }, [used])
}
