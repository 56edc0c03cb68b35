import { isFlagError } from '@ff/core'
import type { EvaluationCountQuery, Records, Storage, StorageSession } from '@ff/storage'
import { newId } from '../access/secrets.ts'
import type { Logger } from '../runtime/logger.ts'
import { MAX_SKETCHES } from '../runtime/memory-bounds.ts'
import { BatchBuffer } from './batch-buffer.ts'
import { HyperLogLog } from './hyper-log-log.ts'

/** The time for which users are added to a sketch before it is written again. */
const WRITE_EVERY_MS = 10_000

/** The environment of a sketch and its flag; `flagId` is `null` for evaluations of all flags. */
type SketchOwner = Pick<Records['userSketch'], 'environmentId' | 'flagId'>

interface PendingSketch extends SketchOwner {
  readonly id: string
  /** The hour of the sketch, in hours since the epoch. */
  readonly hour: number
  readonly users: HyperLogLog
  isChanged: boolean
  writtenAt: number
}

interface UserSketchesOptions {
  readonly storage: Storage
  readonly logger: Logger
  /** The id of this instance, which is new at each start. */
  readonly instanceId: string
}

/**
 * Counts the distinct users of this instance in sketches and writes the sketches to the store.
 * There is one sketch per hour, environment and flag.
 */
export class UserSketches {
  readonly #buffer: BatchBuffer<PendingSketch>
  readonly #storage: Storage
  readonly #instanceId: string
  readonly #sketches = new Map<string, PendingSketch>()
  #dropped = 0

  constructor({ storage, logger, instanceId }: UserSketchesOptions) {
    this.#storage = storage
    this.#instanceId = instanceId
    this.#buffer = new BatchBuffer<PendingSketch>({
      nameOf,
      merge: (_earlier, later) => later,
      ...{ maxRows: MAX_SKETCHES, rowsACall: 1, logger },
      write: (sketches) => this.#store(sketches),
      drop: (sketch) => {
        this.#release(sketch)
        return Math.round(sketch.users.estimate())
      },
    })
  }

  /** `true` if a sketch has changes that are not written. */
  get hasChanges(): boolean {
    for (const { isChanged } of this.#sketches.values()) if (isChanged) return true
    return false
  }

  /**
   * The number of users that were dropped because there was no room or the store refused their
   * sketch.
   */
  get dropped(): number {
    return this.#dropped + this.#buffer.dropped
  }

  /** Adds the user with this key at `now`, in epoch milliseconds. */
  add(owner: SketchOwner, key: string, now: number): void {
    const sketch = this.#sketchOf(owner, now)
    if (sketch === undefined) this.#dropped += 1
    else if (sketch.users.add(key)) sketch.isChanged = true
  }

  /**
   * Writes the changed sketches of past hours, and the other changed sketches if they were not
   * written recently or `all` is `true`. Removes written sketches of past hours from memory.
   */
  async write(now: number, all: boolean): Promise<void> {
    const thisHour = Math.floor(now / HOUR_MS)
    for (const sketch of this.#sketches.values()) {
      const { isChanged, hour, writtenAt } = sketch
      const isDue = all || hour !== thisHour || Math.abs(now - writtenAt) >= WRITE_EVERY_MS
      if (!isChanged || !isDue) continue
      sketch.writtenAt = now
      this.#buffer.add(sketch)
    }
    try {
      await this.#buffer.flush()
    } finally {
      for (const sketch of this.#sketches.values()) {
        if (sketch.hour !== thisHour && !sketch.isChanged) this.#release(sketch)
      }
    }
  }

  #release(sketch: PendingSketch): void {
    this.#sketches.delete(nameOf(sketch))
  }

  #sketchOf({ environmentId, flagId }: SketchOwner, now: number): PendingSketch | undefined {
    const hour = Math.floor(now / HOUR_MS)
    const name = nameOf({ environmentId, flagId, hour })
    const known = this.#sketches.get(name)
    if (known === undefined && this.#sketches.size >= MAX_SKETCHES) return undefined
    const sketch = known ?? {
      ...{ id: newId(), environmentId, flagId, hour, users: new HyperLogLog() },
      ...{ isChanged: false, writtenAt: Number.NEGATIVE_INFINITY },
    }
    this.#sketches.set(name, sketch)
    return sketch
  }

  async #store(sketches: readonly PendingSketch[]): Promise<undefined> {
    for (const sketch of sketches) {
      const { id, environmentId, flagId, users } = sketch
      const hour = hourOf(sketch.hour * HOUR_MS)
      const place = { id, environmentId, flagId, hour, instanceId: this.#instanceId }
      sketch.isChanged = false
      try {
        await put(this.#storage, { ...place, registers: users.toText() })
      } catch (error) {
        sketch.isChanged = true
        throw error
      }
    }
  }
}

function nameOf({ environmentId, flagId, hour }: SketchOwner & { readonly hour: number }): string {
  return `${environmentId} ${flagId} ${hour}`
}

/**
 * Updates a sketch in the store. Inserts the sketch if the store does not contain it, because it is
 * new or was deleted because of its age.
 */
async function put(storage: Storage, record: Records['userSketch']): Promise<void> {
  const { id, registers } = record
  try {
    await storage.update('userSketch', id, { registers })
  } catch (error) {
    if (!isFlagError(error) || error.code !== 'NOT_FOUND') throw error
    await storage.insert('userSketch', record)
  }
}

/**
 * Returns the approximate number of distinct context keys for which a flag was evaluated, alone or
 * with all other flags, on all instances. An hour that contains `from` counts as a whole.
 */
export async function countUniqueUsers(
  storage: Pick<StorageSession, 'list'>,
  { environmentId, flagId, from, to }: EvaluationCountQuery,
): Promise<number> {
  const range = { field: 'hour', from: hourOf(Date.parse(from)), to } as const
  const users = new HyperLogLog()
  for (const owner of [null, flagId]) {
    const where = { environmentId, flagId: owner }
    const { data } = await storage.list('userSketch', { where, range })
    for (const { registers } of data) users.merge(HyperLogLog.parse(registers))
  }
  return Math.round(users.estimate())
}

/** The number of milliseconds in an hour. */
export const HOUR_MS = 3_600_000

/** Returns the start of the hour that contains `now` (epoch milliseconds), as a timestamp. */
export function hourOf(now: number): string {
  return new Date(Math.floor(now / HOUR_MS) * HOUR_MS).toISOString()
}
