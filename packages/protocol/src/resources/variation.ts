import * as z from 'zod'
import { record } from '../record.ts'
import {
  clearable,
  count,
  description,
  id,
  key,
  name,
  recordFields,
  recordNames,
  text,
} from '../scalars.ts'

/** One of the values a flag can take. */
export type Variation = z.output<typeof variationCodec>

/** Text that is read by the flag's type. */
const variationValue = text(65_536)

export const variationCodec = record(
  {
    id,
    flagId: id,
    projectId: id,
    key,
    name,
    description,
    value: variationValue,
    isDefault: z.boolean(),
    orderIndex: count,
    ...recordFields,
  },
  {
    flagId: 'flag_id',
    projectId: 'project_id',
    isDefault: 'is_default',
    orderIndex: 'order_index',
    ...recordNames,
  },
)

const inputNames = { isDefault: 'is_default', orderIndex: 'order_index' } as const

/** The name is the key unless given; the order is the last. */
export type NewVariation = z.output<typeof newVariationCodec>

export const newVariationCodec = record(
  {
    key,
    name: name.optional(),
    description: description.optional(),
    value: variationValue,
    isDefault: z.boolean().optional(),
    orderIndex: count.optional(),
  },
  inputNames,
)

export type VariationChanges = z.output<typeof variationChangesCodec>

export const variationChangesCodec = record(
  {
    name: name.optional(),
    description: clearable(description, ''),
    value: variationValue.optional(),
    isDefault: z.boolean().optional(),
    orderIndex: count.optional(),
  },
  inputNames,
)
