import { compileIncrementally, type JsonValue, jsonEquals } from '@ff/core'
import {
  type AuditedFields,
  type Environment,
  type Flag,
  flagStateCodec,
  type NewPromotion,
  type Promotion,
  rolloutCodec,
  targetingRuleCodec,
} from '@ff/protocol/management'
import { assertNoNewFaults, extensions, runInTimeSlices } from '@ff/server/plane'
import type * as z from 'zod'
import { completed } from '../changes/change-event.ts'
import type { Reader } from '../changes/record-writer.ts'
import { defineChange } from '../changes/use-case.ts'
import { encodeWire, invalid } from '../requests/validation.ts'
import { copyFlagConfiguration, type FlagCopy, planFlagCopy } from './copy-flag-configuration.ts'
import { loadFlagConfiguration, type PartDifference, type PartKind } from './flag-configuration.ts'

type Difference = Promotion['differences'][number]

/** The use cases of promotions. */
export const promotionUseCases = {
  /** Makes a flag behave in one environment as it does in another, or says what that would change. */
  promoteFlag: defineChange('promoteFlag', {
    async prepare({ storage, flag, body, now }) {
      if (body.dryRun !== true) return undefined
      const copy = await loadCopy(storage, flag, body)
      await assertSound(storage, copy)
      const plan = await planFlagCopy(storage, copy, new Date(now).toISOString())
      return { applied: false, differences: await runInTimeSlices(viewDifferences(plan)) }
    },
    async run({ writer, body, flag, prepared: rehearsed }) {
      if (rehearsed !== undefined) return { result: rehearsed }
      const copy = await loadCopy(writer.reader, flag, body)
      const before = await viewTarget(writer.reader, copy)
      const differences = await copyFlagConfiguration(writer, copy)
      const after = await viewTarget(writer.reader, copy)
      const views = await runInTimeSlices(viewDifferences(differences))
      const result = { applied: differences.length > 0, differences: views }
      const completion = { id: flag.id, result, field: 'from_env_id' }
      return completed('flag.promoted', { before, after }, completion)
    },
  }),
}

async function loadCopy(
  reader: Reader,
  flag: Flag,
  { fromEnvironmentId, toEnvironmentId }: NewPromotion,
): Promise<FlagCopy> {
  if (fromEnvironmentId === toEnvironmentId) {
    throw invalid('to_env_id', 'must be another environment')
  }
  const find = async (id: string, field: string): Promise<Environment> => {
    const environment = await reader.find('environment', id)
    if (environment?.projectId === flag.projectId) return environment
    throw invalid(field, 'names no environment of this project')
  }
  const from = await find(fromEnvironmentId, 'from_env_id')
  return { flag, from, to: await find(toEnvironmentId, 'to_env_id') }
}

/** Throws what publishing would: ids differ in a copy, but nothing that publishCheck depends on. */
async function assertSound(reader: Reader, { flag, from, to }: FlagCopy): Promise<void> {
  const source = (await reader.loadFlagSet(from.id))?.flags.find(({ id }) => id === flag.id)
  const target = await reader.loadFlagSet(to.id)
  if (source === undefined || target === undefined) return
  const before = await runInTimeSlices(compileIncrementally(target, { extensions }))
  const flags = target.flags.map((each) => (each.id === flag.id ? source : each))
  const options = { previous: before, extensions }
  const after = await runInTimeSlices(compileIncrementally({ ...target, flags }, options))
  assertNoNewFaults(after, before)
}

async function viewTarget(
  reader: Reader,
  { flag, from, to }: FlagCopy,
): Promise<AuditedFields<'flag.promoted'>> {
  const { state, targetingRules, rollouts } = await loadFlagConfiguration(reader, flag.id, to.id)
  return {
    fromEnvironmentId: from.id,
    toEnvironmentId: to.id,
    state,
    targetingRules: [...targetingRules],
    rollouts: [...rollouts],
  }
}

const RESOURCES = {
  flagState: { resource: 'flag_state', codec: flagStateCodec },
  targetingRule: { resource: 'targeting_rule', codec: targetingRuleCodec },
  rollout: { resource: 'rollout', codec: rolloutCodec },
} as const satisfies Record<PartKind, { resource: Difference['resource']; codec: z.ZodType }>

/** The work may be interrupted at each `yield`. */
function* viewDifferences(
  differences: readonly PartDifference[],
): Generator<undefined, Difference[]> {
  const views: Difference[] = []
  for (const difference of differences) {
    views.push(viewDifference(difference))
    yield
  }
  return views
}

function viewDifference({ kind, before, after }: PartDifference): Difference {
  const { resource, codec } = RESOURCES[kind]
  const encode = (record: object | null) =>
    record === null ? null : (encodeWire(codec as z.ZodType, record) as Record<string, JsonValue>)
  const [was, becomes] = [encode(before), encode(after)]
  return {
    resource,
    id: before?.id ?? after?.id ?? '',
    before: was && becomes ? differing(was, becomes) : was,
    after: was && becomes ? differing(becomes, was) : becomes,
  } as Difference
}

/** The fields that the other does not have, or has otherwise. */
function differing(
  own: Readonly<Record<string, JsonValue>>,
  other: Readonly<Record<string, JsonValue>>,
): Readonly<Record<string, JsonValue>> {
  const fields = Object.entries(own).filter(([name, value]) => {
    const known = other[name]
    return known === undefined || !jsonEquals(value, known)
  })
  return Object.fromEntries(fields)
}
