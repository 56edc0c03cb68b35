import * as z from 'zod'
import { pageOf } from './envelope.ts'
import { record } from './record.ts'
import { flagChangesCodec, flagCodec, flagViewCodec, newFlagCodec, tag } from './resources/flag.ts'
import { flagStateChangesCodec, flagStateCodec } from './resources/flag-state.ts'
import { reorderCodec } from './resources/order.ts'
import {
  newTargetingRuleCodec,
  targetingRuleChangesCodec,
  targetingRuleViewCodec,
} from './resources/targeting-rule.ts'
import { newVariationCodec, variationChangesCodec, variationCodec } from './resources/variation.ts'
import { id, text } from './scalars.ts'

/** What a caller must be allowed to do; which role may is the server's table. */
export type Permission =
  /** See projects, environments, flags and everything that belongs to them. */
  | 'configuration.read'
  /** Change flags, variations, targeting rules, rollouts and segments. */
  | 'flags.write'
  /** Change projects, environments and SDK keys. */
  | 'projects.write'
  /** Issue access tokens up to the caller's own role. */
  | 'tokens.write'
  /** Found organizations. */
  | 'organizations.create'

/** One management endpoint: all that a router, a client or a reference page needs to know. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Parameters stand in braces: `/projects/{projectId}`. Fixed segments win over parameters. */
  readonly path: string
  readonly permission: Permission
  readonly params: z.ZodType
  readonly query: z.ZodType
  /** `noBody` when none is read. */
  readonly body: z.ZodType
  /** The status of success. */
  readonly status: 200 | 201
  /** The payload of the envelope. */
  readonly response: z.ZodType
}

export const noBody = z.undefined()
const noQuery = record({}, {})

const wholeNumber = (min: number, max: number) =>
  z.codec(z.string().regex(/^\d{1,10}$/, 'must be a whole number'), z.int().min(min).max(max), {
    decode: Number,
    encode: String,
  })

const truth = z.codec(z.enum(['true', 'false']), z.boolean(), {
  decode: (word) => word === 'true',
  encode: (value) => (value ? 'true' : 'false'),
})

/** Which part of a list: 50 items from the first page unless said otherwise. */
const paging = {
  page: wholeNumber(1, 1_000_000_000).optional(),
  limit: wholeNumber(1, 100).optional(),
}
const pageQuery = record(paging, {})

const inProject = { projectId: id }
const ofFlag = { ...inProject, flagId: id }
const ofFlagState = { ...ofFlag, environmentId: id }
const names = { environmentId: 'envId' } as const

const projectParams = record(inProject, {})
const flagParams = record(ofFlag, {})
const variationParams = record({ ...ofFlag, variationId: id }, {})
const flagStateParams = record(ofFlagState, names)
const targetingRuleParams = record({ ...ofFlagState, ruleId: id }, names)

const FLAGS = '/projects/{projectId}/flags'
const VARIATIONS = `${FLAGS}/{flagId}/variations` as const
const FLAG_STATE = '/projects/{projectId}/envs/{envId}/flags/{flagId}'
const TARGETING_RULES = `${FLAG_STATE}/targeting-rules` as const

const reading = {
  method: 'GET',
  permission: 'configuration.read',
  body: noBody,
  status: 200,
} as const
const creating = { method: 'POST', permission: 'flags.write', query: noQuery, status: 201 } as const
const changing = { method: 'PUT', permission: 'flags.write', query: noQuery, status: 200 } as const
const deleting = {
  method: 'DELETE',
  permission: 'flags.write',
  query: noQuery,
  body: noBody,
  status: 200,
  response: z.null(),
} as const

/** Every management endpoint. The router, the permission test and clients all read this table. */
export const endpoints = {
  listFlags: {
    ...reading,
    path: FLAGS,
    params: projectParams,
    query: record(
      {
        /** Occurs in the key, the name or the description, ignoring ASCII case. */
        search: text(256).min(1).optional(),
        tag: tag.optional(),
        archived: truth.optional(),
        ...paging,
      },
      {},
    ),
    response: pageOf(flagCodec),
  },
  createFlag: {
    ...creating,
    path: FLAGS,
    params: projectParams,
    body: newFlagCodec,
    response: flagViewCodec,
  },
  getFlag: {
    ...reading,
    path: `${FLAGS}/{flagId}`,
    params: flagParams,
    query: noQuery,
    response: flagViewCodec,
  },
  updateFlag: {
    ...changing,
    path: `${FLAGS}/{flagId}`,
    params: flagParams,
    body: flagChangesCodec,
    response: flagViewCodec,
  },
  deleteFlag: { ...deleting, path: `${FLAGS}/{flagId}`, params: flagParams },

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
    response: variationCodec,
  },
  deleteVariation: { ...deleting, path: `${VARIATIONS}/{variationId}`, params: variationParams },

  getFlagState: {
    ...reading,
    path: FLAG_STATE,
    params: flagStateParams,
    query: noQuery,
    response: flagStateCodec,
  },
  updateFlagState: {
    ...changing,
    path: FLAG_STATE,
    params: flagStateParams,
    body: flagStateChangesCodec,
    response: flagStateCodec,
  },

  listTargetingRules: {
    ...reading,
    path: TARGETING_RULES,
    params: flagStateParams,
    query: pageQuery,
    response: pageOf(targetingRuleViewCodec),
  },
  createTargetingRule: {
    ...creating,
    path: TARGETING_RULES,
    params: flagStateParams,
    body: newTargetingRuleCodec,
    response: targetingRuleViewCodec,
  },
  reorderTargetingRules: {
    ...changing,
    path: `${TARGETING_RULES}/reorder`,
    params: flagStateParams,
    body: reorderCodec,
    response: z.array(targetingRuleViewCodec),
  },
  getTargetingRule: {
    ...reading,
    path: `${TARGETING_RULES}/{ruleId}`,
    params: targetingRuleParams,
    query: noQuery,
    response: targetingRuleViewCodec,
  },
  updateTargetingRule: {
    ...changing,
    path: `${TARGETING_RULES}/{ruleId}`,
    params: targetingRuleParams,
    body: targetingRuleChangesCodec,
    response: record({ rule: targetingRuleViewCodec, message: z.string() }, {}),
  },
  deleteTargetingRule: {
    ...deleting,
    path: `${TARGETING_RULES}/{ruleId}`,
    params: targetingRuleParams,
  },
} as const satisfies Record<string, Endpoint>

export type EndpointName = keyof typeof endpoints
