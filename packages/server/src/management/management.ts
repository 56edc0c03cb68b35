import type { Endpoint, EndpointName, endpoints } from '@ff/protocol/management'
import type { ChangeFeed, Storage } from '@ff/storage'
import type * as z from 'zod'
import type { Actor } from '../access/actors.ts'
import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import type { IdempotentRequest } from './idempotency.ts'

/** What every use case takes first: where things are kept, and who asks. */
export interface Management {
  readonly storage: Storage
  readonly changeFeed: ChangeFeed
  readonly clock: Clock
  readonly logger: Logger
  readonly actor: Actor
  /** Set when the same request may come again: what it changes is changed once. */
  readonly idempotentRequest?: IdempotentRequest | undefined
}

/** What a use case takes second: what its endpoint decodes, in the spelling of the house. */
export interface InputOf<E extends Endpoint> {
  readonly params: z.output<E['params']>
  readonly query: z.output<E['query']>
  readonly body: z.output<E['body']>
  /** When given, the write is refused with `CONFLICT` if the record has another revision. */
  readonly expectedRevision?: number | undefined
}

/** The parts of an endpoint's input that a use case needs. */
export type Input<N extends EndpointName, Parts extends keyof InputOf<Endpoint>> = Pick<
  InputOf<(typeof endpoints)[N]>,
  Parts
>

/** What an endpoint answers with; of `lines`, one after another. */
type ResultOf<E extends Endpoint> = E extends { readonly lines: true }
  ? AsyncIterable<z.output<E['response']>>
  : z.output<E['response']>

/** Does what an endpoint promises. Throws `FlagError` for everything it refuses. */
export type UseCase<E extends Endpoint> = (
  management: Management,
  input: InputOf<E>,
) => Promise<ResultOf<E>>
