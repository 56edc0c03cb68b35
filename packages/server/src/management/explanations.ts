import {
  compileFlagSet,
  type EvaluationContext,
  evaluateFlag,
  type FlagSet,
  parseContext,
} from '@ff/core'
import { type ExplanationStep, explainFlag } from '@ff/core/explain'
import { type ExplainedEvaluation, type ExplainedFlag, endpoints } from '@ff/protocol/management'
import { notFound } from '../access/permissions.ts'
import { timestampAt } from '../clock.ts'
import { engines } from '../evaluation/engines.ts'
import { loadPermitted } from './apply-change.ts'
import type { Input, Management } from './management.ts'
import { loadEnvironmentPath } from './paths.ts'
import { loadVersion } from './versions.ts'

/** How many steps one answer holds; flags for which none are left are answered without theirs. */
const MOST_STEPS = 20_000

/**
 * What a context gets, and why: of all flags or of one, at any version and any instant. Exactly
 * what was served then, and counted nowhere.
 */
export async function explainEvaluation(
  management: Management,
  { params, body }: Input<'explainEvaluation', 'params' | 'body'>,
): Promise<ExplainedEvaluation> {
  const { permission } = endpoints.explainEvaluation
  const target = { permission, load: loadEnvironmentPath, params }
  const { environment } = await loadPermitted(management, target)
  const context = parseContext(body.context)
  const flagSet = await loadCompiled(management, environment.id, body.version)
  const { flagKey } = body
  if (flagKey !== undefined && !flagSet.flags.has(flagKey)) throw notFound('flag')
  const keys = flagKey === undefined ? [...flagSet.flags.keys()] : [flagKey]
  const at = body.at ?? timestampAt(management.clock)
  const flags = explainAll({ flagSet, context, now: Date.parse(at) }, keys)
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
  return compileFlagSet(definition, { engines })
}

interface Question {
  readonly flagSet: FlagSet
  readonly context: EvaluationContext
  /** Epoch milliseconds. */
  readonly now: number
}

function explainAll(
  { flagSet, context, now }: Question,
  keys: readonly string[],
): readonly ExplainedFlag[] {
  let left = MOST_STEPS
  return keys.map((key) => {
    if (left <= 0) {
      const detail = evaluateFlag(flagSet, key, context, now)
      return { ...detail, prerequisiteChain: [], attributesRead: null, steps: null }
    }
    const { detail, ...log } = explainFlag(flagSet, key, context, now)
    left -= countSteps(log.steps)
    return { ...detail, ...log }
  })
}

function countSteps(steps: readonly ExplanationStep[]): number {
  return steps.reduce((count, { steps: parts = [] }) => count + 1 + countSteps(parts), 0)
}
