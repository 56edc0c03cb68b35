import type { Endpoint, EndpointName, endpoints } from '@ff/protocol/management'
import type * as z from 'zod'

/** The second argument of a use case: the decoded input of its endpoint, with camelCase names. */
export interface InputOf<E extends Endpoint> {
  readonly params: z.output<E['params']>
  readonly query: z.output<E['query']>
  readonly body: z.output<E['body']>
  /** When given, the write is refused with `CONFLICT` if the record has another revision. */
  readonly expectedRevision?: number | undefined
}

/** The fields of an endpoint's input that a use case needs. */
export type Input<N extends EndpointName, Fields extends keyof InputOf<Endpoint>> = Pick<
  InputOf<(typeof endpoints)[N]>,
  Fields
>
