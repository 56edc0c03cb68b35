import { isFlagError } from '@ff/core'
import type { Records, Storage } from '@ff/storage'
import { newId } from '../access/secrets.ts'
import type { Logger } from '../runtime/logger.ts'
import { MAX_FLAG_SKETCHES, MAX_SKETCHES } from '../runtime/memory-bounds.ts'
import { BatchBuffer } from './batch-buffer.ts'
import {
  EnvironmentSketches,
  type EvaluatedFlagSet,
  HOUR_MS,
  type PendingSketch,
  type SketchSubject,
} from './environment-sketches.ts'
import { HyperLogLog, placeOf } from './hyper-log-log.ts'

/** The time for which users are added to a sketch before it is written again. */
const WRITE_EVERY_MS = 10_000

/** A user for whom flags of an environment are evaluated. */
interface EvaluatedUser {
  readonly environmentId: string
  readonly key: string
  /** The time of the evaluation, in epoch milliseconds. */
  readonly now: number
}

interface UserSketchesOptions {
  readonly storage: Storage
  readonly logger: Logger
  /** The id of this instance, which is new at each start. */
  readonly instanceId: string
}

/**
 * Counts the distinct users of this instance in sketches and writes the sketches to the store.
 * `EnvironmentSketches` determines which evaluations share a sketch.
 */
export class UserSketches {
  readonly #buffer: BatchBuffer<PendingSketch>
  readonly #storage: Storage
  readonly #instanceId: string
  /** The sketches of the newest hour of each environment. */
  readonly #environments = new Map<string, EnvironmentSketches>()
  readonly #sketches = new Set<PendingSketch>()
  #dropped = 0

  constructor({ storage, logger, instanceId }: UserSketchesOptions) {
    this.#storage = storage
    this.#instanceId = instanceId
    this.#buffer = new BatchBuffer<PendingSketch>({
      nameOf: ({ id }) => id,
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
    for (const { isChanged } of this.#sketches) if (isChanged) return true
    return false
  }

  /**
   * The number of users that were dropped because there was no room or the store refused their
   * sketch.
   */
  get dropped(): number {
    return this.#dropped + this.#buffer.dropped
  }

  /**
   * Adds a user of single flags. If they were evaluated with a flag set, and the user is one of all its
   * flags in this hour, nothing is added.
   */
  addToFlags(user: EvaluatedUser, flagIds: readonly string[], evaluated?: EvaluatedFlagSet): void {
    const sketches = this.#sketchesOf(user)
    const place = placeOf(user.key)
    if (evaluated !== undefined && sketches.findAll(evaluated)?.users.hasPlace(place)) return
    for (const flagId of flagIds) this.#add(sketches.ofFlag(flagId), place)
  }

  /** Adds a user of all flags of a flag set. */
  addToAll(user: EvaluatedUser, evaluated: EvaluatedFlagSet): void {
    if (evaluated.flagSet.ordered.length === 0) return
    this.#add(this.#sketchesOf(user).ofAll(evaluated, user.now), placeOf(user.key))
  }

  /**
   * Writes the changed sketches of past hours, and the other changed sketches if they were not
   * written recently or `all` is `true`. Removes written sketches from memory if no further user will
   * be added.
   */
  async write(now: number, all: boolean): Promise<void> {
    const thisHour = Math.floor(now / HOUR_MS)
    for (const sketch of this.#sketches) {
      const { isChanged, hour, writtenAt } = sketch
      const isDue = all || hour !== thisHour || Math.abs(now - writtenAt) >= WRITE_EVERY_MS
      if (!isChanged || !isDue) continue
      sketch.writtenAt = now
      this.#buffer.add(sketch)
    }
    try {
      await this.#buffer.flush()
    } finally {
      for (const [environmentId, { hour }] of this.#environments) {
        if (hour !== thisHour) this.#environments.delete(environmentId)
      }
      for (const sketch of this.#sketches) {
        const isInUse = this.#environments.get(sketch.environmentId)?.isInUse(sketch) ?? false
        if (!isInUse && !sketch.isChanged) this.#release(sketch)
      }
    }
  }

  #add(sketch: PendingSketch | undefined, place: number): void {
    if (sketch === undefined) this.#dropped += 1
    else if (sketch.users.addPlace(place)) sketch.isChanged = true
  }

  #release(sketch: PendingSketch): void {
    this.#sketches.delete(sketch)
    this.#environments.get(sketch.environmentId)?.remove(sketch)
  }

  #sketchesOf({ environmentId, now }: EvaluatedUser): EnvironmentSketches {
    const hour = Math.floor(now / HOUR_MS)
    const known = this.#environments.get(environmentId)
    if (known?.hour === hour) return known
    const created = new EnvironmentSketches(hour, (subject) =>
      this.#create(subject, { environmentId, hour }),
    )
    this.#environments.set(environmentId, created)
    return created
  }

  #create(
    subject: SketchSubject,
    place: Pick<PendingSketch, 'environmentId' | 'hour'>,
  ): PendingSketch | undefined {
    const limit = subject.flagId === null ? MAX_SKETCHES : MAX_FLAG_SKETCHES
    if (this.#sketches.size >= limit) return undefined
    const sketch: PendingSketch = {
      ...{ id: newId(), ...subject, ...place, users: new HyperLogLog() },
      ...{ isChanged: false, writtenAt: Number.NEGATIVE_INFINITY },
    }
    this.#sketches.add(sketch)
    return sketch
  }

  async #store(sketches: readonly PendingSketch[]): Promise<undefined> {
    for (const sketch of sketches) {
      const { id, environmentId, flagId, versions, users } = sketch
      const hour = hourOf(sketch.hour * HOUR_MS)
      const place = { id, environmentId, flagId, hour, instanceId: this.#instanceId }
      const content = {
        keyKind: versions?.kind ?? null,
        firstVersion: versions?.first ?? null,
        lastVersion: versions?.last ?? null,
        registers: users.toText(),
      }
      sketch.isChanged = false
      try {
        await put(this.#storage, { ...place, ...content })
      } catch (error) {
        sketch.isChanged = true
        throw error
      }
    }
  }
}

/**
 * Updates a sketch in the store. Inserts the sketch if the store does not contain it, because it is
 * new or was deleted because of its age.
 */
async function put(storage: Storage, record: Records['userSketch']): Promise<void> {
  const { id, keyKind, firstVersion, lastVersion, registers } = record
  try {
    const changes = { keyKind, firstVersion, lastVersion, registers }
    await storage.update('userSketch', id, changes)
  } catch (error) {
    if (!isFlagError(error) || error.code !== 'NOT_FOUND') throw error
    await storage.insert('userSketch', record)
  }
}

/** Returns the start of the hour that contains `now` (epoch milliseconds), as a timestamp. */
export function hourOf(now: number): string {
  return new Date(Math.floor(now / HOUR_MS) * HOUR_MS).toISOString()
}
