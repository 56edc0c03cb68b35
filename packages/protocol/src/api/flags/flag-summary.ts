import * as z from 'zod'
import { cursorPaging, reading, truth } from '../endpoint.ts'
import { pageOf } from '../envelope.ts'
import { PROJECT } from '../paths.ts'
import { record, toSnakeCase } from '../record.ts'
import { count, id, idOrKey, key, name, text, timestamp, wholeNumber } from '../scalars.ts'
import { flagType, tag } from './flag.ts'
import { percentage } from './rollout.ts'

/** A flag in short form, with its configuration in all environments. */
export type FlagSummary = z.output<typeof flagSummaryCodec>

/** The configuration of a flag in one environment, in short form. */
export type EnvironmentSummary = FlagSummary['environments'][number]

const environmentSummary = record({
  environmentId: id,
  isActive: z.boolean(),
  /**
   * `off` if the flag is switched off. Otherwise the first rollout that a rule serves determines
   * the shape: `rollout` (strategy `percentage`), `experiment` (`variant`) or `gradual`. Without
   * such a rollout, the shape is `rules` if there are rules, targets or prerequisites, and
   * `everybody` if every context receives the default variation.
   */
  shape: z.enum(['off', 'everybody', 'rules', 'rollout', 'experiment', 'gradual']),
  /** The variation that is served by default: the environment's own, else that of the flag. */
  defaultVariationId: id.nullable(),
  offVariationId: id.nullable(),
  ruleCount: count,
  /**
   * The number of rules with conditions or a segment, before the first rule that serves a variation
   * to every context. The rules after that rule are never evaluated.
   */
  conditionalRuleCount: count,
  /** The variations that these rules serve without a rollout, each once, in the order of the rules. */
  ruleVariationIds: z.array(id),
  /**
   * The variation of contexts to which no earlier rule serves one: that of the first rule that
   * serves a variation to every context, else the default variation.
   */
  othersVariationId: id.nullable(),
  /** The number of context keys that are targeted individually. */
  targetCount: count,
  prerequisiteCount: count,
  /** The number of scheduled changes that are pending. */
  pendingChanges: count,
  /**
   * The current percentages of the first rollout that a rule serves, also while the flag is
   * switched off; `null` if there is none.
   */
  split: z.array(record({ variationId: id, percent: percentage })).nullable(),
  /** `true` if the rule of this rollout has conditions or a segment. */
  splitIsConditional: z.boolean(),
  /** The time of the next step of this rollout; `null` unless it is gradual and not finished. */
  nextStepAt: timestamp.nullable(),
  /**
   * The last version of the environment that changed the flag; `null` if it is older than the
   * summaries of the server.
   */
  version: z.int().min(1).nullable(),
  /** The time of this version. */
  changedAt: timestamp.nullable(),
  /** The name of the actor who caused this version. */
  changedBy: z.string().nullable(),
})

/** The codec of `FlagSummary`. */
export const flagSummaryCodec = record({
  id,
  key,
  name,
  type: flagType,
  tags: z.array(tag),
  archivedAt: timestamp.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
  /** The variations in their order, without their values. */
  variations: z.array(record({ id, key, name })),
  /** `true` if the configuration differs between environments. */
  differs: z.boolean(),
  lastEvaluatedAt: timestamp.nullable(),
  /** One item for each environment, in the order of the project's environments. */
  environments: z.array(environmentSummary),
})

/** The order of a list of flag summaries. */
export type FlagSummarySort = z.output<typeof sort>

/** The fields by which a list can be sorted, by their wire names. */
const SORT_FIELDS = {
  key: 'key',
  name: 'name',
  updated_at: 'updatedAt',
  created_at: 'createdAt',
} as const
type SortName = keyof typeof SORT_FIELDS
const DIRECTIONS = ['asc', 'desc'] as const

const SORTS = [
  ...(['key:asc', 'key:desc', 'name:asc', 'name:desc'] as const),
  ...(['updated_at:asc', 'updated_at:desc', 'created_at:asc', 'created_at:desc'] as const),
] as const

const sort = z.codec(
  z.enum(SORTS),
  z.object({
    field: z.enum(['key', 'name', 'updatedAt', 'createdAt']),
    direction: z.enum(DIRECTIONS),
  }),
  {
    decode: (text) => {
      const [name, direction] = text.split(':') as [SortName, (typeof DIRECTIONS)[number]]
      return { field: SORT_FIELDS[name], direction }
    },
    encode: ({ field, direction }) =>
      `${toSnakeCase(field)}:${direction}` as (typeof SORTS)[number],
  },
)

const NOTES =
  '`search` matches a part of the key, name or description, ignoring ASCII case. `state` selects ' +
  'the flags that are in this state in any environment, or in the environment `env_id`: `on`, ' +
  '`off`, with the shape `rollout`, `experiment` or `gradual`, or with pending scheduled changes ' +
  '(`scheduled`). `differs` and `unused` do not depend on the environment: `differs` selects the ' +
  'flags whose configuration differs between environments, and `unused` those that were not ' +
  'evaluated in any environment for 30 days and are older than 30 days.'

/** The endpoint of flag summaries. */
export const flagSummaryEndpoints = {
  listFlagSummaries: reading(`${PROJECT}/flag-summaries`, {
    query: record(
      {
        /** Matches a part of the key, name or description, ignoring ASCII case. */
        search: text(256).min(1).optional(),
        tag: tag.optional(),
        type: flagType.optional(),
        archived: truth.optional(),
        environmentId: idOrKey.optional(),
        state: z
          .enum(['on', 'off', 'rollout', 'experiment', 'gradual', 'scheduled', 'differs', 'unused'])
          .optional(),
        sort: sort.optional().meta({ default: 'key:asc' }),
        page: cursorPaging.page,
        after: cursorPaging.after,
        limit: wholeNumber(1, 1000).optional().meta({ default: 200 }),
      },
      { environmentId: 'env_id' },
    ),
    response: pageOf(flagSummaryCodec),
    notes: NOTES,
    conditional: true,
  }),
}
