import type {
  ConditionDefinition,
  FlagDefinition,
  FlagSetDefinition,
  SegmentDefinition,
} from '@ff/core'
import type { FlagSetsByKind } from './flag-set-entry.ts'

/*
 * The memory of compiled flag sets in bytes, measured with V8: of definitions, compiled parts and
 * indexes together. `flag-set-bytes.test.ts` compares the estimates with the heap.
 */
const FLAG_SET = 80_000
const FLAG = 950
const VARIATION = 270
const RULE = 450
const CONDITION = 330
const TARGET = 330
const PREREQUISITE = 280
const ROLLOUT = 380
const RANGE = 90
const SEGMENT = 700
/** Of a key of a target or of a segment, in addition to its text. */
const TARGET_KEY = 68
const SEGMENT_KEY = 46
/** The number of bytes for each character of the value of a condition or a variation. */
const CHARACTER = { condition: 3.6, variation: 2.8 }
/** The number of keys of a list whose lengths are read. */
const MOST_KEYS_READ = 100
/** The share of a flag that is used again if clients do not receive all flags. */
const CLIENT_VIEW = 0.2

/** Estimates the memory of the flag sets of an environment, in bytes. */
export function* estimateBytes({ server, client }: FlagSetsByKind): Generator<undefined, number> {
  const whole = yield* bytesOf(server.definition)
  return Math.round(client === server ? whole : whole * (1 + CLIENT_VIEW))
}

function* bytesOf({ flags, segments }: FlagSetDefinition): Generator<undefined, number> {
  let bytes = FLAG_SET
  for (const flag of flags) {
    bytes += bytesOfFlag(flag)
    yield
  }
  for (const segment of segments) {
    bytes += bytesOfSegment(segment)
    yield
  }
  return bytes
}

function bytesOfFlag(flag: FlagDefinition): number {
  const { variations, targets, prerequisites, rules, rollouts } = flag
  let bytes = FLAG + PREREQUISITE * prerequisites.length
  for (const { value } of variations) bytes += VARIATION + CHARACTER.variation * value.length
  for (const { keys } of targets) bytes += TARGET + bytesOfKeys(keys, TARGET_KEY)
  for (const { conditions } of rules) bytes += RULE + bytesOfConditions(conditions)
  for (const rollout of rollouts) {
    bytes += ROLLOUT + (rollout.strategy === 'gradual' ? 0 : RANGE * rollout.ranges.length)
  }
  return bytes
}

function bytesOfSegment({ rules, included, excluded }: SegmentDefinition): number {
  const listed = bytesOfKeys(included, SEGMENT_KEY) + bytesOfKeys(excluded, SEGMENT_KEY)
  return SEGMENT + bytesOfConditions(rules) + listed
}

function bytesOfConditions(conditions: readonly ConditionDefinition[]): number {
  let bytes = 0
  for (const { value } of conditions) bytes += CONDITION + CHARACTER.condition * value.length
  return bytes
}

/** Returns the bytes of listed keys. Of a long list, only some of the keys are read. */
function bytesOfKeys(keys: readonly string[], each: number): number {
  const step = Math.ceil(keys.length / MOST_KEYS_READ)
  let [read, characters] = [0, 0]
  for (let at = 0; at < keys.length; at += step) {
    read += 1
    characters += keys[at]?.length ?? 0
  }
  return read === 0 ? 0 : Math.round(keys.length * (each + characters / read))
}
