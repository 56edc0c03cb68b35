import * as z from 'zod'
import { record } from './record.ts'
import { count } from './scalars.ts'

/** The envelope of every management response. */
export interface Envelope<T> {
  /** The HTTP status, repeated. */
  readonly statusCode: number
  /** `OK`, or a description of the error. */
  readonly message: string
  readonly data: T
}

/** Returns the codec of a response with this `data`. */
export function envelope<T>(data: z.ZodType<T>) {
  return z.strictObject({ statusCode: z.int(), message: z.string(), data })
}

/** One page of a list; the `data` of the envelope. */
export interface PageOf<T> {
  readonly data: readonly T[]
  /** `page` counts from 1; `pageCount` is 0 for an empty list. */
  readonly meta: { readonly total: number; readonly page: number; readonly pageCount: number }
  /**
   * The cursor of the next page, for the parameter `after`. Absent on the last page, and in lists
   * without this parameter.
   */
  readonly next?: string
}

/** Returns the codec of a page of items. */
export function pageOf<T>(item: z.ZodType<T>): z.ZodType<PageOf<T>> {
  const meta = z.strictObject({ total: count, page: z.int().min(1), pageCount: count })
  return z.strictObject({ data: z.array(item), meta, next: z.string().exactOptional() })
}

/** The `data` of a 409 response: the resources that refer to the resource to delete or archive. */
export type InUse = z.output<typeof inUseCodec>

/** The codec of `InUse`. */
export const inUseCodec = record({
  usedBy: z.array(z.strictObject({ resource: z.string(), id: z.string(), name: z.string() })),
})
