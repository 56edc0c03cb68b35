import * as z from 'zod'
import { record } from '../record.ts'
import { count, id } from '../scalars.ts'

/**
 * New positions of items of an ordered list. Items without a new position keep their `orderIndex`.
 */
export type Reorder = z.output<typeof reorderCodec>

const place = record({ id, orderIndex: count })

/** The codec of `Reorder`. */
export const reorderCodec = record({ orders: z.array(place).min(1).max(1000) })
