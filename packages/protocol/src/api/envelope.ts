import * as z from 'zod'
import { record } from './record.ts'
import { count } from './scalars.ts'

/** What every management answer is wrapped in. */
export interface Envelope<T> {
  /** The same as the HTTP status. */
  readonly statusCode: number
  /** `OK`, or what went wrong. */
  readonly message: string
  readonly data: T
}

/** The codec of an answer whose payload is `data`. */
export function envelope<T>(data: z.ZodType<T>) {
  return z.strictObject({ statusCode: z.int(), message: z.string(), data })
}

/** One page of a list, as `data` of the envelope. */
export interface PageOf<T> {
  readonly data: readonly T[]
  /** `page` counts from 1; `pageCount` is 0 for an empty list. */
  readonly meta: { readonly total: number; readonly page: number; readonly pageCount: number }
}

/** The codec of one page of such items. */
export function pageOf<T>(item: z.ZodType<T>): z.ZodType<PageOf<T>> {
  const meta = z.strictObject({ total: count, page: z.int().min(1), pageCount: count })
  return z.strictObject({ data: z.array(item), meta })
}

/** `data` of a 409: what still uses the thing that was to be deleted or archived. */
export type InUse = z.output<typeof inUseCodec>

/** The codec of `InUse`. */
export const inUseCodec = record({
  usedBy: z.array(z.strictObject({ resource: z.string(), id: z.string(), name: z.string() })),
})
