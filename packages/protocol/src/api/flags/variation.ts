import * as z from 'zod'
import { changing, creating, deleting, type Endpoint, pageQuery, reading } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { FLAGS, flagParams, ofFlag } from '../paths.ts'
import { camelCaseRecord, record } from '../record.ts'
import { clearable, count, description, id, key, name, recordFields, text } from '../scalars.ts'
import { reorderCodec } from './reorder.ts'

/** One of the values a flag can take. */
export type Variation = z.output<typeof variationCodec>

/** Text that is read by the flag's type. */
const variationValue = text(65_536)

export const variationCodec = record({
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
})

/** The name is the key unless given; the order is the last. */
export type NewVariation = z.output<typeof newVariationCodec>

export const newVariationCodec = record({
  key,
  name: name.optional(),
  description: description.optional(),
  value: variationValue,
  isDefault: z.boolean().optional(),
  orderIndex: count.optional(),
})

export type VariationChanges = z.output<typeof variationChangesCodec>

export const variationChangesCodec = record({
  name: name.optional(),
  description: clearable(description, ''),
  value: variationValue.optional(),
  isDefault: z.boolean().optional(),
  orderIndex: count.optional(),
})

const VARIATIONS = `${FLAGS}/{flagId}/variations` as const
const variationParams = camelCaseRecord({ ...ofFlag, variationId: id })

const VALUE_NOTES = 'Integers beyond 2^53 are refused for flags of the type `number`.'

export const variationEndpoints = {
  listVariations: {
    ...reading,
    path: VARIATIONS,
    params: flagParams,
    query: pageQuery,
    response: pageOf(variationCodec),
  },
  createVariation: {
    ...creating,
    path: VARIATIONS,
    params: flagParams,
    body: newVariationCodec,
    notes: VALUE_NOTES,
    response: variationCodec,
  },
  reorderVariations: {
    ...changing,
    path: `${VARIATIONS}/reorder`,
    params: flagParams,
    body: reorderCodec,
    response: z.array(variationCodec),
  },
  updateVariation: {
    ...changing,
    path: `${VARIATIONS}/{variationId}`,
    params: variationParams,
    body: variationChangesCodec,
    notes: VALUE_NOTES,
    response: variationCodec,
  },
  deleteVariation: { ...deleting, path: `${VARIATIONS}/{variationId}`, params: variationParams },
} as const satisfies Record<string, Endpoint>
