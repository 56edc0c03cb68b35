import type { EndpointName, endpoints } from '@ff/protocol/management'
import type * as z from 'zod'

type Table = typeof endpoints

/** The decoded input of an endpoint, with camelCase names. */
export interface InputOf<N extends EndpointName> {
  readonly params: z.output<Table[N]['params']>
  readonly query: z.output<Table[N]['query']>
  readonly body: z.output<Table[N]['body']>
  /**
   * The revision that the record must have; otherwise the change is refused with `CONFLICT`. If it
   * is `undefined`, the revision is not checked.
   */
  readonly expectedRevision?: number | undefined
  /** The reason for a change, of 1 to 1,000 characters, for the audit log. */
  readonly comment?: string | undefined
  /** The position after which an event stream continues; `undefined` to begin at the present. */
  readonly lastEventId?: string | undefined
}

/** The input of any endpoint. */
export interface AnyInput {
  readonly params: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly expectedRevision?: number | undefined
  readonly comment?: string | undefined
  readonly lastEventId?: string | undefined
}

type OptionalField<Input, Field extends keyof Input> =
  Record<never, never> extends Input[Field]
    ? { readonly [F in Field]?: Input[F] }
    : undefined extends Input[Field]
      ? { readonly [F in Field]?: Input[F] }
      : { readonly [F in Field]: Input[F] }

/**
 * The input of a call in process. `params`, `query` and `body` are optional if they can be empty.
 */
export type CallInput<Input extends AnyInput> = Omit<Input, 'params' | 'query' | 'body'> &
  OptionalField<Input, Extract<keyof Input, 'params'>> &
  OptionalField<Input, Extract<keyof Input, 'query'>> &
  OptionalField<Input, Extract<keyof Input, 'body'>>

/** The fields of an endpoint's input that a function needs. */
export type Input<N extends EndpointName, Fields extends keyof InputOf<N>> = Pick<
  InputOf<N>,
  Fields
>
