import { type CompiledFlag, reasonOf, servedBy } from '@ff/core'
import type { ContextSample } from '@ff/storage'
import type { Evaluated } from '../evaluation/evaluated.ts'
import { newId } from '../runtime/ids.ts'
import { inSlices } from '../runtime/time-slice.ts'
import type { Person } from './person.ts'

/** A context that was evaluated, as far as it is kept, with the answers that it got last. */
export interface PendingSample extends Person {
  readonly environmentId: string
  readonly hash: string
  /** Canonical JSON. */
  readonly text: string
  /** About how much memory this takes. */
  readonly bytes: number
  firstSeen: number
  lastSeen: number
  count: number
  /** The flags that were evaluated last, and the code of each answer. */
  flags: readonly CompiledFlag[]
  codes: Int32Array
  source: ContextSample['source']
}

/**
 * The context samples as records, given the organizations of their environments. In slices: with a
 * thousand flags, each record takes as long as a few requests.
 */
export async function toSightings(
  batch: readonly PendingSample[],
  organizations: ReadonlyMap<string, string>,
): Promise<readonly ContextSample[]> {
  const records: ContextSample[] = []
  await inSlices(batch, (sample) => {
    records.push(recordOf(sample, organizations.get(sample.environmentId) ?? ''))
  })
  return records
}

function recordOf(sample: PendingSample, orgId: string): ContextSample {
  const { environmentId, hash, kind, key, text, count, flags, codes, source } = sample
  return {
    ...{ id: newId(), environmentId, orgId, hash, kind, key, source },
    contextJson: JSON.parse(text),
    firstSeen: new Date(sample.firstSeen).toISOString(),
    lastSeen: new Date(sample.lastSeen).toISOString(),
    seenCount: count,
    evaluationSuccess: codes.every((code) => reasonOf(code) !== 'ERROR'),
    variationResults: variationsOf(flags, codes),
  }
}

/**
 * Takes over the answers, and nothing else, of an evaluation: that holds on to its whole context,
 * and its array is that of many others as well.
 */
export function keepAnswers(sample: PendingSample, { evaluation }: Evaluated): void {
  const { flags, codes, start } = evaluation
  sample.flags = flags
  if (sample.codes.length !== flags.length) sample.codes = new Int32Array(flags.length)
  sample.codes.set(codes.subarray(start, start + flags.length))
}

/** Flag key → the key of the variation that was served, as JSON text. */
function variationsOf(flags: readonly CompiledFlag[], codes: Int32Array): string {
  const members = flags.map((flag, index) => membersOf(flag)[servedBy(codes[index] ?? 0)])
  return `{${members.join(',')}}`
}

/** For nothing and for each variation: the member of the object that says so. Made once. */
function membersOf(flag: CompiledFlag): readonly string[] {
  const known = membersByFlag.get(flag)
  if (known !== undefined) return known
  const served = [null, ...flag.variations.map(({ key }) => key)]
  const members = served.map((key) => `${JSON.stringify(flag.key)}:${JSON.stringify(key)}`)
  membersByFlag.set(flag, members)
  return members
}

const membersByFlag = new WeakMap<CompiledFlag, readonly string[]>()
