import {
  compileIncrementally,
  type EvaluationContext,
  evaluateFlag,
  type FlagSet,
  parseContext,
} from '@ff/core'
import { type ExplanationStep, explainIncrementally, prepareExplanations } from '@ff/core/explain'
import type { ExplainedEvaluation, ExplainedFlag } from '@ff/protocol/management'
import { extensions, runInTimeSlices } from '@ff/server/plane'
import { notFound } from '../access/permissions.ts'
import { defineQuery, type ReadableStorage } from '../changes/use-case.ts'
import { loadVersion } from '../history/versions.ts'

/**
 * The maximum number of steps in one result. After this number, the remaining flags are returned
 * without steps.
 */
const MOST_STEPS = 20_000

/** The use cases of explanations. */
export const explanationUseCases = {
  /**
   * Returns the details and explanations of one flag or all flags for a context, for any version
   * and any time. The details equal those that the server returned for that version at that time.
   * The evaluations are not counted.
   */
  explainEvaluation: defineQuery('explainEvaluation', {
    async run({ storage, environment, body, now }) {
      const context = parseContext(body.context)
      const flagSet = await loadCompiled(storage, environment.id, body.version)
      const { flagKey } = body
      if (flagKey !== undefined && !flagSet.flags.has(flagKey)) throw notFound('flag')
      const keys = flagKey === undefined ? [...flagSet.flags.keys()] : [flagKey]
      const at = body.at ?? new Date(now).toISOString()
      return explainedEvaluation({ flagSet, context, now: Date.parse(at) }, keys)
    },
  }),
}

/** Returns the explanations of these flags for a context. */
export async function explainedEvaluation(
  question: Question,
  keys: readonly string[],
): Promise<ExplainedEvaluation> {
  const flags = await runInTimeSlices(explainAll(question, keys))
  const { flagSet, now } = question
  return { version: flagSet.version, at: new Date(now).toISOString(), flags }
}

async function loadCompiled(
  storage: ReadableStorage,
  environmentId: string,
  version: number | undefined,
): Promise<FlagSet> {
  const nothing = { version: 0, flags: [], segments: [] }
  const definition =
    version === undefined
      ? ((await storage.loadFlagSet(environmentId)) ?? nothing)
      : await loadVersion(storage, environmentId, version)
  return runInTimeSlices(compileIncrementally(definition, { extensions }))
}

interface Question {
  readonly flagSet: FlagSet
  readonly context: EvaluationContext
  /** Epoch milliseconds. */
  readonly now: number
}

/** Explains the flags with these keys. The caller can pause the work at each `yield`. */
function* explainAll(
  { flagSet, context, now }: Question,
  keys: readonly string[],
): Generator<undefined, readonly ExplainedFlag[]> {
  yield* prepareExplanations(flagSet, keys, context)
  const flags: ExplainedFlag[] = []
  let left = MOST_STEPS
  for (const key of keys) {
    if (left > 0) {
      const { detail, ...log } = yield* explainIncrementally(flagSet, key, context, now)
      left -= countSteps(log.steps)
      flags.push({ ...detail, ...log })
    } else {
      const detail = evaluateFlag(flagSet, key, context, now)
      flags.push({ ...detail, prerequisiteChain: [], attributesRead: null, steps: null })
    }
    yield
  }
  return flags
}

function countSteps(steps: readonly ExplanationStep[]): number {
  return steps.reduce((count, { steps: parts = [] }) => count + 1 + countSteps(parts), 0)
}
