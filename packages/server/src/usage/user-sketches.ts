import { isFlagError } from '@ff/core'
import type { Records, Storage } from '@ff/storage'
import { newId } from '../runtime/ids.ts'
import { HyperLogLog } from './hyper-log-log.ts'
import type { RowWriter } from './row-writer.ts'
import { HOUR_MS, hourOf } from './unique-users.ts'

/** How long users are added to a sketch before it is written again. */
const WRITE_EVERY_MS = 10_000

/** How many sketches are in memory; each takes 16 KiB. */
const MAX_SKETCHES = 1000

/** What the users of a sketch were evaluated for. */
interface SketchOwner {
  readonly environmentId: string
  /** null: all flags together. */
  readonly flagId: string | null
}

interface PendingSketch extends SketchOwner {
  readonly id: string
  /** Hours since the epoch. */
  readonly hour: number
  readonly users: HyperLogLog
  isChanged: boolean
  writtenAt: number
}

/** Counts the users of this instance, one sketch for each hour and flag, and writes the sketches. */
export class UserSketches {
  readonly #writer: RowWriter
  readonly #instanceId = newId()
  readonly #sketches = new Map<string, PendingSketch>()
  /** By environment: the sketch that was used last, which mostly is used again. */
  readonly #latest = new Map<string, PendingSketch>()
  #dropped = 0

  constructor(writer: RowWriter) {
    this.#writer = writer
  }

  /** Whether anything is still to be written. */
  get hasChanges(): boolean {
    for (const { isChanged } of this.#sketches.values()) if (isChanged) return true
    return false
  }

  /** How many users were dropped: there was no room, or the store refused their sketch. */
  get dropped(): number {
    return this.#dropped
  }

  /** Adds the user with this key at `now`, in epoch milliseconds. */
  add(owner: SketchOwner, key: string, now: number): void {
    const sketch = this.#sketchOf(owner, now)
    if (sketch === undefined) this.#dropped += 1
    else if (sketch.users.add(key)) sketch.isChanged = true
  }

  /** Writes the sketches that are due, or all that have changed; frees those of past hours. */
  async write(storage: Storage, now: number, all: boolean): Promise<void> {
    const thisHour = Math.floor(now / HOUR_MS)
    const isDue = ({ isChanged, hour, writtenAt }: PendingSketch) =>
      isChanged && (all || hour !== thisHour || Math.abs(now - writtenAt) >= WRITE_EVERY_MS)
    try {
      await this.#writer.write({
        rows: [...this.#sketches.values()].filter(isDue),
        rowsACall: 1,
        write: async (sketches) => {
          for (const sketch of sketches) await this.#store(storage, sketch, now)
        },
        drop: (sketch) => {
          this.#dropped += Math.round(sketch.users.estimate())
          this.#release(sketch)
        },
      })
    } finally {
      for (const sketch of this.#sketches.values()) {
        if (sketch.hour !== thisHour && !sketch.isChanged) this.#release(sketch)
      }
    }
  }

  #release(sketch: PendingSketch): void {
    this.#sketches.delete(nameOf(sketch))
    if (this.#latest.get(sketch.environmentId) === sketch) {
      this.#latest.delete(sketch.environmentId)
    }
  }

  #sketchOf({ environmentId, flagId }: SketchOwner, now: number): PendingSketch | undefined {
    const hour = Math.floor(now / HOUR_MS)
    const latest = this.#latest.get(environmentId)
    if (latest?.flagId === flagId && latest.hour === hour) return latest
    const name = nameOf({ environmentId, flagId, hour })
    const known = this.#sketches.get(name)
    if (known === undefined && this.#sketches.size >= MAX_SKETCHES) return undefined
    const sketch = known ?? {
      ...{ id: newId(), environmentId, flagId, hour, users: HyperLogLog.empty() },
      ...{ isChanged: false, writtenAt: Number.NEGATIVE_INFINITY },
    }
    this.#sketches.set(name, sketch)
    this.#latest.set(environmentId, sketch)
    return sketch
  }

  async #store(storage: Storage, sketch: PendingSketch, now: number): Promise<void> {
    const { users, isChanged: _isChanged, writtenAt: _writtenAt, ...place } = sketch
    const registers = users.toText()
    const hour = hourOf(sketch.hour * HOUR_MS)
    sketch.isChanged = false
    try {
      await put(storage, { ...place, hour, instanceId: this.#instanceId, registers })
    } catch (error) {
      sketch.isChanged = true
      throw error
    }
    sketch.writtenAt = now
  }
}

function nameOf({ environmentId, flagId, hour }: SketchOwner & { readonly hour: number }): string {
  return `${environmentId} ${flagId} ${hour}`
}

/** Inserts a record that does not exist yet, or that was deleted because of its age. */
async function put(storage: Storage, record: Records['userSketch']): Promise<void> {
  const { id, registers } = record
  try {
    await storage.update('userSketch', id, { registers })
  } catch (error) {
    if (!isFlagError(error) || error.code !== 'NOT_FOUND') throw error
    await storage.insert('userSketch', record)
  }
}
