import * as z from 'zod'
import { pageOf } from '../envelope.ts'
import { record } from '../record.ts'
import { reorderCodec } from '../resources/order.ts'
import { newVariationCodec, variationChangesCodec, variationCodec } from '../resources/variation.ts'
import { id } from '../scalars.ts'
import {
  changing,
  creating,
  deleting,
  type Endpoint,
  flagParams,
  ofFlag,
  pageQuery,
  reading,
} from './endpoint.ts'
import { FLAGS } from './flags.ts'

const VARIATIONS = `${FLAGS}/{flagId}/variations` as const
const variationParams = record({ ...ofFlag, variationId: id }, {})

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
