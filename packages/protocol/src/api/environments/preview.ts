import * as z from 'zod'
import { reading } from '../endpoint.ts'
import { conditionInputs } from '../flags/condition.ts'
import { explainedEvaluationCodec } from '../flags/explanation.ts'
import { flagConfigurationInputCodec } from '../flags/flag-configuration.ts'
import { listedKeys } from '../flags/segment.ts'
import { newVariationCodec } from '../flags/variation.ts'
import { ENVIRONMENT } from '../paths.ts'
import { record } from '../record.ts'
import { count, id, idOrKey, instant, timestamp } from '../scalars.ts'

/** The maximum number of changes of one preview. */
const MOST_CHANGES = 50

/** The kinds of changes. Flags, segments and environments are named by their ids or keys. */
const changeKinds = [
  record({
    kind: z.literal('flag_configuration'),
    flagId: idOrKey,
    /** The whole configuration after the change, as in `updateFlagConfiguration`. */
    configuration: flagConfigurationInputCodec,
  }),
  record({
    kind: z.literal('flag'),
    flagId: idOrKey,
    /** All variations after the change, identified by their keys. Other variations are deleted. */
    variations: z.array(newVariationCodec).min(1).max(100).optional(),
    archived: z.boolean().optional(),
  }),
  record({
    kind: z.literal('segment'),
    segmentId: idOrKey,
    rules: conditionInputs.optional(),
    logicalOp: z.enum(['AND', 'OR', 'NOT']).optional(),
    force: z.boolean().optional(),
    /** The list to which `add` and `remove` apply; `included` by default. */
    list: z.enum(['included', 'excluded']).optional(),
    add: listedKeys.optional(),
    remove: listedKeys.optional(),
  }),
  record(
    { kind: z.literal('promotion'), flagId: idOrKey, fromEnvironmentId: idOrKey },
    { fromEnvironmentId: 'from_env_id' },
  ),
  record({ kind: z.literal('restore'), version: z.int().min(1).max(2_147_483_647) }),
  record({ kind: z.literal('scheduled_change'), changeId: id }),
] as const

/** A change of a draft. */
export type PreviewChange = z.output<(typeof changeKinds)[number]>

// The types of zod require object schemas, although codecs of objects work as well.
const previewChange = z.discriminatedUnion('kind', changeKinds as never) as never as z.ZodType<
  PreviewChange,
  z.input<(typeof changeKinds)[number]>
>

/** The body of `previewChanges`: a draft, and the observed contexts to evaluate. */
export type PreviewQuestion = z.output<typeof previewQuestionCodec>

/** The codec of `PreviewQuestion`. */
export const previewQuestionCodec = record({
  /** The changes of the draft, which are applied in this order. */
  changes: z.array(previewChange).min(1).max(MOST_CHANGES),
  /** Selects the contexts seen in the last hours; 24 by default. */
  windowHours: z.int().min(1).max(720).optional(),
  /** The maximum number of contexts; 10,000 by default. */
  maxContexts: z.int().min(100).max(50_000).optional(),
  /** The maximum number of examples of each move; 5 by default. */
  examples: z.int().min(0).max(20).optional(),
  /** The time of the evaluations; `null` is the current time, which is the default. */
  at: instant.nullable().optional(),
  /** Requests the explanations of one flag for one context. */
  explain: record({ context: z.unknown(), flagKey: z.string() }).optional(),
})

const variationKey = z.string().nullable()
const reason = z.enum(['TARGETING_MATCH', 'SPLIT', 'STATIC', 'DEFAULT', 'DISABLED', 'ERROR'])

const previewMove = record({
  /** The key of the published variation; `null` if none is served. */
  from: variationKey,
  to: variationKey,
  contexts: count,
  /** The number of times that these contexts were seen. */
  evaluations: count,
  /** The percentage of the evaluated contexts, with two decimals. */
  share: z.number().min(0).max(100),
  fromReason: reason,
  toReason: reason,
  /** The id of the rule of the draft that matches; `null` if no rule matches. */
  toRuleId: z.string().nullable(),
  /** The most recently seen contexts; empty if the role may not read observed contexts. */
  examples: z.array(record({ kind: z.string(), key: z.string(), lastSeen: timestamp })),
})

const previewSplit = record({ variationKey, contexts: count })

const previewFlag = record({
  flagId: id,
  key: z.string(),
  /** The number of contexts to which the draft serves another variation or value. */
  changed: count,
  /** The number of contexts with the same value, but another reason or rule. */
  reasonOnly: count,
  /** The number of contexts with an unknown result, which no other number of the flag includes. */
  undetermined: count,
  /** The contexts by the published variation. */
  before: z.array(previewSplit),
  after: z.array(previewSplit),
  /** At most 100 moves, the largest first. */
  moves: z.array(previewMove),
})

/** What a draft and the published version serve to observed contexts. */
export type Preview = z.output<typeof previewCodec>

/** The codec of `Preview`. */
export const previewCodec = record({
  /** The published version with which the draft is compared. */
  version: count,
  at: timestamp,
  contexts: record({
    /** The number of contexts that were seen in the window. */
    inWindow: count,
    evaluated: count,
    /** `true` if not all contexts of the window were evaluated. The sample is uniform. */
    isSample: z.boolean(),
    /** The earliest `last_seen` of the evaluated contexts; `null` if there are none. */
    oldest: timestamp.nullable(),
    /** The number of times that the evaluated contexts were seen. */
    evaluations: count,
  }),
  /** Attributes that contexts did not keep and on which undetermined results depend. */
  unknownAttributes: z.array(z.string()),
  /** The flags whose results can change, those with the most changed contexts first. */
  flags: z.array(previewFlag),
  /** `false` if a limit of time or of flags was reached. */
  complete: z.boolean(),
  tookMs: count,
  /** The explanations; a side is `null` if it does not have the flag. */
  explanations: record({
    published: explainedEvaluationCodec.nullable(),
    draft: explainedEvaluationCodec.nullable(),
  }).optional(),
})

const NOTES =
  'Writes and counts nothing. The draft is checked as when it is published. If the environment has ' +
  '`context_privacy: none`, the response is 409 with `code: PREVIEW_WITHOUT_CONTEXTS`. An ' +
  'organization has one preview at a time; a second request waits, and further requests get 429.'

/** The endpoint that previews the impact of changes. */
export const previewEndpoints = {
  /** Reads only; it uses POST because a draft can be too long for a query string. */
  previewChanges: reading(`${ENVIRONMENT}/preview`, {
    method: 'POST',
    body: previewQuestionCodec,
    maxBodyBytes: 1024 * 1024,
    notes: NOTES,
    response: previewCodec,
  }),
}
