import { type CompiledFlag, servedBy } from '@ff/core'
import { reasonAt } from '@ff/core/all-flags'
import { minimalContext } from '@ff/core/explain'
import { canonicalJson, hash128 } from '@ff/core/fingerprint'
import type { Environment } from '@ff/protocol/management'
import type { ContextSighting, EvaluationSource, Storage } from '@ff/storage'
import { newId } from '../ids.ts'
import { inSlices } from '../slice.ts'
import type { Evaluated } from './evaluated.ts'
import { type Person, personOf } from './person.ts'

/** How many contexts that are not known yet are kept of one environment and batch. */
const MAX_NEW = 100

/** How many are kept, known or not, of one environment and batch. */
const MAX_KEPT = 200

/** How many different contexts are looked at, of one environment and batch. */
const MAX_DISTINCT = 300

/** How many contexts wait at most, of all environments. */
const MAX_WAITING = 2000

/** How long the text of a context may be that is kept. */
const MAX_TEXT_LENGTH = 16 * 1024

/** How many contexts are remembered to be in the store. */
const MAX_KNOWN = 10_000

/** How many are written at once. */
const ROWS_A_CALL = 20

/** A context that was evaluated, as far as it is kept. */
interface Sighting extends Person {
  readonly environmentId: string
  readonly hash: string
  /** Canonical JSON. */
  readonly text: string
  firstSeen: number
  lastSeen: number
  count: number
  last: Evaluated
  source: EvaluationSource
}

/** What became of a context: some are not wanted, for some there is no room. */
type Fate = Sighting | 'unwanted' | 'dropped'

/** What was seen in one environment since the last batch. */
interface Seen {
  /** By the hash of the whole context. */
  readonly fates: Map<string, Fate>
  kept: number
  newcomers: number
}

interface Sight {
  readonly environmentId: string
  /** Of the whole context. */
  readonly contextHash: string
  readonly source: EvaluationSource
  /** Epoch milliseconds. */
  readonly now: number
}

interface ContextSightingsParts {
  /** What an environment wants to keep of contexts. */
  readonly privacyOf: (environmentId: string) => Environment['contextPrivacy']
  /** The organization of an environment; undefined when it is gone. */
  readonly organizationOf: (environmentId: string) => Promise<string | undefined>
}

/** The contexts that were evaluated, on their way to the store. */
export class ContextSightings {
  readonly #parts: ContextSightingsParts
  readonly #seen = new Map<string, Seen>()
  /** By environment and hash: what the next batch writes. */
  #waiting = new Map<string, Sighting>()
  /** Names of sightings that the store has, the oldest first. */
  readonly #known = new Set<string>()
  #dropped = 0

  constructor(parts: ContextSightingsParts) {
    this.#parts = parts
  }

  /** How many contexts wait. */
  get size(): number {
    return this.#waiting.size
  }

  /** How many times a context was seen for which there was no room. */
  get dropped(): number {
    return this.#dropped
  }

  /** Keeps what is to be kept of a context. False: this very context was seen in this batch already. */
  see(evaluated: Evaluated, sight: Sight): boolean {
    const seen = this.#seenIn(sight.environmentId)
    const before = seen.fates.get(sight.contextHash)
    const fate = before ?? this.#decide(evaluated, sight, seen)
    if (before === undefined && seen.fates.size < MAX_DISTINCT) {
      seen.fates.set(sight.contextHash, fate)
    }
    if (fate === 'dropped') this.#dropped += 1
    else if (fate !== 'unwanted') {
      fate.count += 1
      fate.lastSeen = sight.now
      fate.last = evaluated
      fate.source = sight.source
    }
    return before === undefined
  }

  /** Writes what waits. What cannot be written waits again, as far as there is room. */
  async write(storage: Storage): Promise<void> {
    const sightings = [...this.#waiting.values()]
    this.#waiting = new Map()
    this.#seen.clear()
    for (let start = 0; start < sightings.length; start += ROWS_A_CALL) {
      const batch = sightings.slice(start, start + ROWS_A_CALL)
      try {
        await storage.recordSightings(await this.#recordsOf(batch))
        for (const sighting of batch) this.#remember(nameOf(sighting))
      } catch (error) {
        for (const sighting of sightings.slice(start)) this.#putBack(sighting)
        throw error
      }
    }
  }

  #seenIn(environmentId: string): Seen {
    const known = this.#seen.get(environmentId)
    if (known !== undefined) return known
    const seen = { fates: new Map(), kept: 0, newcomers: 0 }
    this.#seen.set(environmentId, seen)
    return seen
  }

  /** What becomes of a context that was not seen in this batch before. */
  #decide(evaluated: Evaluated, { environmentId, source, now }: Sight, seen: Seen): Fate {
    const privacy = this.#parts.privacyOf(environmentId)
    if (privacy === 'none') return 'unwanted'
    if (seen.fates.size >= MAX_DISTINCT) return 'dropped'
    const { flagSet, context } = evaluated
    const text = canonicalJson(privacy === 'all' ? context : minimalContext(flagSet, context))
    if (text.length > MAX_TEXT_LENGTH) return 'dropped'
    const hash = hash128(text)
    const name = nameOf({ environmentId, hash })
    const waiting = this.#waiting.get(name)
    if (waiting !== undefined) return waiting
    const isNew = !this.#known.has(name)
    if (this.#waiting.size >= MAX_WAITING || seen.kept >= MAX_KEPT) return 'dropped'
    if (isNew && seen.newcomers >= MAX_NEW) return 'dropped'
    seen.kept += 1
    if (isNew) seen.newcomers += 1
    const times = { firstSeen: now, lastSeen: now, count: 0 }
    const sighting = {
      ...personOf(context),
      ...{ environmentId, hash, text, ...times },
      ...{ last: evaluated, source },
    }
    this.#waiting.set(name, sighting)
    return sighting
  }

  /** In slices: with a thousand flags, each record takes as long as a few requests. */
  async #recordsOf(batch: readonly Sighting[]): Promise<ContextSighting[]> {
    const organizations = new Map<string, string | undefined>()
    for (const { environmentId } of batch) {
      if (organizations.has(environmentId)) continue
      organizations.set(environmentId, await this.#parts.organizationOf(environmentId))
    }
    const records: ContextSighting[] = []
    await inSlices(batch, (sighting) => {
      const orgId = organizations.get(sighting.environmentId)
      if (orgId === undefined) this.#dropped += sighting.count
      else records.push(recordOf(sighting, orgId))
    })
    return records
  }

  /** After a failure; what was seen meanwhile is newer. */
  #putBack(sighting: Sighting): void {
    const name = nameOf(sighting)
    const newer = this.#waiting.get(name)
    if (newer !== undefined) {
      newer.firstSeen = sighting.firstSeen
      newer.count += sighting.count
    } else if (this.#waiting.size < MAX_WAITING) this.#waiting.set(name, sighting)
    else this.#dropped += sighting.count
  }

  #remember(name: string): void {
    this.#known.add(name)
    if (this.#known.size <= MAX_KNOWN) return
    for (const oldest of this.#known) {
      this.#known.delete(oldest)
      break
    }
  }
}

function nameOf({ environmentId, hash }: { environmentId: string; hash: string }): string {
  return `${environmentId} ${hash}`
}

function recordOf(sighting: Sighting, orgId: string): ContextSighting {
  const { environmentId, hash, kind, key, text, count, last, source } = sighting
  return {
    ...{ id: newId(), environmentId, orgId, hash, kind, key, source },
    contextJson: JSON.parse(text),
    firstSeen: new Date(sighting.firstSeen).toISOString(),
    lastSeen: new Date(sighting.lastSeen).toISOString(),
    seenCount: count,
    evaluationSuccess: isSuccess(last),
    variationResults: variationsOf(last),
  }
}

function isSuccess({ evaluation }: Evaluated): boolean {
  return evaluation.flags.every((_, index) => reasonAt(evaluation, index) !== 'ERROR')
}

/** Flag key → the key of the variation that was served, as JSON text. */
function variationsOf({ evaluation }: Evaluated): string {
  const { flags, codes, start } = evaluation
  const members = flags.map((flag, index) => membersOf(flag)[servedBy(codes[start + index] ?? 0)])
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
