import {
  compileIncrementally,
  type EvaluationContext,
  evaluateFlag,
  type FlagSet,
  parseContext,
} from '@ff/core'
import { type ExplanationStep, explainIncrementally, prepareExplanations } from '@ff/core/explain'
import { type ExplainedEvaluation, type ExplainedFlag, endpoints } from '@ff/protocol/management'
import { extensions, runInTimeSlices, timestampAt } from '@ff/server/plane'
import { loadPermitted } from '../access/access-request.ts'
import { notFound } from '../access/permissions.ts'
import { loadEnvironmentPath } from '../access/project-paths.ts'
import type { Management } from '../changes/management.ts'
import { loadVersion } from '../history/versions.ts'
import type { Input } from '../requests/input.ts'

/** How many steps one answer holds; flags for which none are left are answered without theirs. */
const MOST_STEPS = 20_000

/**
 * Returns the details and explanations of a context: for all flags or one, at any version and any
 * time. They are exactly what was served then, and are not counted.
 */
export async function explainEvaluation(
  management: Management,
  { params, body }: Input<'explainEvaluation', 'params' | 'body'>,
): Promise<ExplainedEvaluation> {
  const { permission } = endpoints.explainEvaluation
  const request = { permission, load: loadEnvironmentPath, params }
  const { environment } = await loadPermitted(management, request)
  const context = parseContext(body.context)
  const flagSet = await loadCompiled(management, environment.id, body.version)
  const { flagKey } = body
  if (flagKey !== undefined && !flagSet.flags.has(flagKey)) throw notFound('flag')
  const keys = flagKey === undefined ? [...flagSet.flags.keys()] : [flagKey]
  const at = body.at ?? timestampAt(management.clock)
  const question = { flagSet, context, now: Date.parse(at) }
  const flags = await runInTimeSlices(explainAll(question, keys))
  return { version: flagSet.version, at, flags }
}

async function loadCompiled(
  { storage }: Management,
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

/** The work may be interrupted at each `yield`. */
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
