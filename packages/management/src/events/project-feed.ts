import type { ProjectEvent } from '@ff/protocol/management'
import type { Clock, Instance, Logger } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import { ConvergenceWatch } from './convergence-watch.ts'
import { asPosition } from './event-id.ts'
import type { EventQueue } from './event-queue.ts'
import {
  loadEvents,
  newestPosition,
  type ProjectRef,
  positionAt,
  reloadAt,
} from './missed-events.ts'

/** The services that read the events of a project. */
export interface FeedServices {
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
  /** The live clients; `undefined` if the server has none. */
  readonly instance: Instance | undefined
}

/** The last events that were read, and the position after which they begin. */
interface RecentEvents {
  readonly after: number
  readonly events: readonly ProjectEvent[]
}

/** The maximum number of events that are kept for readers that reconnect. */
const MAX_RECENT = 100

/**
 * Reads the events of one project from the store and sends them to all readers of this instance. Each event is read
 * once, however many readers there are.
 */
export class ProjectFeed {
  readonly #services: FeedServices
  readonly #project: ProjectRef
  readonly #readers = new Set<EventQueue>()
  readonly #watches = new Map<string, ConvergenceWatch>()
  /** The position that all readers have; `undefined` before the first reader. */
  #position: number | undefined
  #recent: RecentEvents = { after: 0, events: [] }
  #isWoken = false
  #isFailing = false
  /** The last task. Tasks run one after another, so that a reader misses no event. */
  #last: Promise<void> = Promise.resolve()

  constructor(services: FeedServices, project: ProjectRef) {
    this.#services = services
    this.#project = project
  }

  /**
   * Adds a reader. Without `lastEventId`, it first receives the position; with it, the events after
   * this position, or `reload` if they cannot be determined. Throws `UNAVAILABLE` if the store
   * cannot be read.
   */
  async join(reader: EventQueue, lastEventId: string | undefined): Promise<void> {
    await this.#inTurn(async () => {
      const { projectId } = this.#project
      this.#position ??= await this.#begin()
      await this.#advance(this.#position)
      const position = this.#position
      const events =
        lastEventId === undefined
          ? undefined
          : await this.#eventsAfter(asPosition(lastEventId, projectId), position)
      if (reader.hasEnded) return
      this.#readers.add(reader)
      if (events === undefined || events.length === 0)
        reader.push([positionAt(this.#project, position)])
      else reader.push(events)
      this.#watchVersionsIn(events ?? [])
    })
  }

  /** Removes a reader. Without readers, the feed stops its timers. */
  leave(reader: EventQueue): void {
    this.#readers.delete(reader)
    if (this.#readers.size > 0) return
    for (const watch of this.#watches.values()) watch.stop()
    this.#watches.clear()
  }

  /** Reads new events and sends them. Never rejects: a failed read is repeated by the next call. */
  async wake(): Promise<void> {
    if (this.#isWoken) return
    this.#isWoken = true
    const { logger } = this.#services
    try {
      await this.#inTurn(async () => {
        this.#isWoken = false
        if (this.#position !== undefined) await this.#advance(this.#position)
      })
      this.#isFailing = false
    } catch (cause) {
      const { projectId } = this.#project
      if (!this.#isFailing)
        logger.warn('The events of a project cannot be read', { projectId, cause })
      this.#isFailing = true
    }
  }

  async #begin(): Promise<number> {
    const position = await newestPosition(this.#services.storage, this.#project)
    this.#recent = { after: position, events: [] }
    return position
  }

  async #inTurn(task: () => Promise<void>): Promise<void> {
    const done = this.#last.then(task)
    this.#last = done.catch(() => undefined)
    await done
  }

  /** Sends the events after `position`, which becomes the newest position. */
  async #advance(position: number): Promise<void> {
    const { storage } = this.#services
    const newest = await newestPosition(storage, this.#project)
    if (newest === position) return
    // The newest position is lower if a backup was restored.
    const range = { after: position, upTo: newest }
    const loaded = newest < position ? undefined : await loadEvents(storage, this.#project, range)
    const events = loaded ?? [reloadAt(this.#project, newest)]
    this.#position = newest
    if (loaded === undefined) this.#recent = { after: newest, events: [] }
    else this.#remember(loaded)
    const sent = events.length === 0 ? [positionAt(this.#project, newest)] : events
    for (const reader of [...this.#readers]) reader.push(sent)
    this.#watchVersionsIn(events)
  }

  #remember(events: readonly ProjectEvent[]): void {
    const { after } = this.#recent
    const all = [...this.#recent.events, ...events]
    let dropped = Math.max(0, all.length - MAX_RECENT)
    // The events of one change belong together: only the last one has an id.
    while (dropped > 0 && all[dropped - 1]?.id === null) dropped += 1
    const last = all[dropped - 1]?.id ?? undefined
    const { projectId } = this.#project
    const position = last === undefined ? undefined : asPosition(last, projectId)
    this.#recent = { after: position ?? after, events: all.slice(dropped) }
  }

  /** Returns the events between two positions, or `reload`. */
  async #eventsAfter(
    position: number | undefined,
    newest: number,
  ): Promise<readonly ProjectEvent[]> {
    const reload = [reloadAt(this.#project, newest)]
    if (position === undefined || position > newest) return reload
    if (position === newest) return []
    if (position >= this.#recent.after) return this.#recentAfter(position)
    const range = { after: position, upTo: newest }
    return (await loadEvents(this.#services.storage, this.#project, range)) ?? reload
  }

  #recentAfter(position: number): readonly ProjectEvent[] {
    const { projectId } = this.#project
    const { events } = this.#recent
    const isEarlier = ({ id }: ProjectEvent) => {
      return id !== null && (asPosition(id, projectId) ?? 0) <= position
    }
    return events.slice(events.findLastIndex(isEarlier) + 1)
  }

  #watchVersionsIn(events: readonly ProjectEvent[]): void {
    const { instance, clock } = this.#services
    if (instance === undefined || this.#readers.size === 0) return
    for (const { event, data } of events) {
      if (event !== 'version') continue
      const { environmentId, version } = data
      const send = (progress: ProjectEvent) => {
        for (const reader of [...this.#readers]) reader.push([progress])
      }
      const created = () => new ConvergenceWatch({ environmentId, instance, clock, send })
      const watch = this.#watches.get(environmentId) ?? created()
      this.#watches.set(environmentId, watch)
      watch.start(version)
    }
  }
}
