import * as z from 'zod'
import { changing, creating, deleting, pageQuery, reading } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { FLAG } from '../paths.ts'
import { changesOf, record } from '../record.ts'
import {
  clearable,
  count,
  description,
  id,
  key,
  name,
  newKey,
  recordFields,
  text,
} from '../scalars.ts'
import { reorderCodec } from './reorder.ts'

/** One of the values of a flag. */
export type Variation = z.output<typeof variationCodec>

/** The value as text, in a format that depends on the type of the flag. */
const variationValue = text(65_536)

const fields = {
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
}

/** The codec of `Variation`. */
export const variationCodec = record(fields)

/** The body of `createVariation`. `name` defaults to the key, `orderIndex` to the last position. */
export type NewVariation = z.output<typeof newVariationCodec>

/** The codec of `NewVariation`. */
export const newVariationCodec = record({
  key: newKey,
  name: name.optional(),
  description: description.optional(),
  value: variationValue,
  isDefault: z.boolean().optional(),
  orderIndex: count.optional(),
})

/** The body of `updateVariation`; absent fields stay unchanged. */
export type VariationChanges = z.output<typeof variationChangesCodec>

/** The codec of `VariationChanges`. */
export const variationChangesCodec = changesOf(fields, {
  name: name.optional(),
  description: clearable(description, ''),
  value: variationValue.optional(),
  isDefault: z.boolean().optional(),
  orderIndex: count.optional(),
})

const VARIATIONS = `${FLAG}/variations` as const

const VALUE_NOTES = 'Integers beyond 2^53 are refused for flags of type `number`.'

/** The endpoints of variations. */
export const variationEndpoints = {
  listVariations: reading(VARIATIONS, { query: pageQuery, response: pageOf(variationCodec) }),
  createVariation: creating(VARIATIONS, {
    body: newVariationCodec,
    notes: VALUE_NOTES,
    response: variationCodec,
  }),
  reorderVariations: changing(`${VARIATIONS}/reorder`, {
    body: reorderCodec,
    response: z.array(variationCodec),
  }),
  updateVariation: changing(`${VARIATIONS}/{variationId}`, {
    body: variationChangesCodec,
    notes: VALUE_NOTES,
    response: variationCodec,
  }),
  deleteVariation: deleting(`${VARIATIONS}/{variationId}`),
}
