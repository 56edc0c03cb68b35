import { isFlagError } from '@ff/core'
import type { Records, Storage } from '@ff/storage'
import { newId } from '../runtime/ids.ts'
import { HyperLogLog } from './hyper-log-log.ts'
import type { RowWriter } from './row-writer.ts'
import { HOUR_MS, hourOf } from './unique-users.ts'

/** How long a sketch is added to before it is written again. */
const WRITE_EVERY_MS = 10_000

/** How many sketches are held; each takes 16 KiB. */
const MAX_SKETCHES = 1000

/** Whose users a sketch holds. */
interface SketchOwner {
  readonly environmentId: string
  /** null: those for whom all flags were evaluated together. */
  readonly flagId: string | null
}

interface HeldSketch extends SketchOwner {
  readonly id: string
  /** Hours since the epoch. */
  readonly hour: number
  readonly users: HyperLogLog
  isChanged: boolean
  writtenAt: number
}

/** The users that this instance has seen, an hour and a sketch at a time, on their way to the store. */
export class UserSketches {
  readonly #writer: RowWriter
  readonly #instanceId = newId()
  readonly #held = new Map<string, HeldSketch>()
  /** By environment, the sketch that was last added to: mostly it is added to again. */
  readonly #latest = new Map<string, HeldSketch>()
  #dropped = 0

  constructor(writer: RowWriter) {
    this.#writer = writer
  }

  /** Whether anything is still to be written. */
  get hasChanges(): boolean {
    for (const { isChanged } of this.#held.values()) if (isChanged) return true
    return false
  }

  /** How many times there was no room for a user, and about how many were in sketches that the store refused. */
  get dropped(): number {
    return this.#dropped
  }

  /** Somebody with this key was evaluated for at `now`, in epoch milliseconds. */
  add(owner: SketchOwner, key: string, now: number): void {
    const sketch = this.#sketchOf(owner, now)
    if (sketch === undefined) this.#dropped += 1
    else if (sketch.users.add(key)) sketch.isChanged = true
  }

  /** Writes the sketches that are due, or all that have changed; lets go of those that are over. */
  async write(storage: Storage, now: number, all: boolean): Promise<void> {
    const thisHour = Math.floor(now / HOUR_MS)
    const isDue = ({ isChanged, hour, writtenAt }: HeldSketch) =>
      isChanged && (all || hour !== thisHour || Math.abs(now - writtenAt) >= WRITE_EVERY_MS)
    try {
      await this.#writer.write({
        rows: [...this.#held.values()].filter(isDue),
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
      for (const sketch of this.#held.values()) {
        if (sketch.hour !== thisHour && !sketch.isChanged) this.#release(sketch)
      }
    }
  }

  #release(sketch: HeldSketch): void {
    this.#held.delete(nameOf(sketch))
    if (this.#latest.get(sketch.environmentId) === sketch) {
      this.#latest.delete(sketch.environmentId)
    }
  }

  #sketchOf({ environmentId, flagId }: SketchOwner, now: number): HeldSketch | undefined {
    const hour = Math.floor(now / HOUR_MS)
    const latest = this.#latest.get(environmentId)
    if (latest?.flagId === flagId && latest.hour === hour) return latest
    const name = nameOf({ environmentId, flagId, hour })
    const known = this.#held.get(name)
    if (known === undefined && this.#held.size >= MAX_SKETCHES) return undefined
    const sketch = known ?? {
      ...{ id: newId(), environmentId, flagId, hour, users: HyperLogLog.empty() },
      ...{ isChanged: false, writtenAt: Number.NEGATIVE_INFINITY },
    }
    this.#held.set(name, sketch)
    this.#latest.set(environmentId, sketch)
    return sketch
  }

  async #store(storage: Storage, sketch: HeldSketch, now: number): Promise<void> {
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

/** Not there yet, or deleted because it was old, is the same. */
async function put(storage: Storage, record: Records['userSketch']): Promise<void> {
  const { id, registers } = record
  try {
    await storage.update('userSketch', id, { registers })
  } catch (error) {
    if (!isFlagError(error) || error.code !== 'NOT_FOUND') throw error
    await storage.insert('userSketch', record)
  }
}
