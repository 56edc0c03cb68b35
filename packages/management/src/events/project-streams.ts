import { FlagError } from '@ff/core'
import type { Cancel } from '@ff/server/plane'
import type { ChangeFeed, Unsubscribe } from '@ff/storage'
import { defineUseCases } from '../changes/use-case.ts'
import { EventQueue } from './event-queue.ts'
import type { ProjectRef } from './missed-events.ts'
import { type FeedServices, ProjectFeed } from './project-feed.ts'

/** The maximum number of open streams of this instance, and of one actor. */
const MAX_STREAMS = 500
const MAX_OF_ACTOR = 10
/** The number of seconds after which a refused reader can try again. */
const RETRY_AFTER_SECONDS = 30
/** The interval at which all projects with readers are read, so that a lost hint delays an event. */
const CHECK_EVERY_MS = 5000

interface ProjectStreamsOptions extends FeedServices {
  readonly changeFeed: ChangeFeed
}

/** The reader of a stream, and the position after which it continues. */
interface StreamRequest {
  readonly project: ProjectRef
  readonly actorId: string
  readonly lastEventId: string | undefined
}

interface OpenStream {
  readonly actorId: string
  readonly projectId: string
}

/** The event streams of this instance. */
export class ProjectStreams {
  readonly #options: ProjectStreamsOptions
  readonly #feeds = new Map<string, ProjectFeed>()
  readonly #open = new Map<EventQueue, OpenStream>()
  #unsubscribe: Unsubscribe | undefined
  #cancelCheck: Cancel | undefined
  #isStopped = false

  constructor(options: ProjectStreamsOptions) {
    this.#options = options
  }

  /** Subscribes to the change feed. */
  async start(): Promise<void> {
    this.#unsubscribe ??= await this.#options.changeFeed.subscribe((change) => {
      if (change.type === 'project') void this.#feeds.get(change.projectId)?.wake()
      if (change.type === 'resync') this.#wakeAll()
    })
  }

  /** Ends all streams. Later streams are refused. */
  stop(): void {
    this.#isStopped = true
    this.#unsubscribe?.()
    this.#cancelCheck?.()
    for (const queue of [...this.#open.keys()]) queue.end()
  }

  /**
   * Opens a stream. The caller must iterate until it ends, or call `return` on its iterator. Throws
   * `RATE_LIMITED` if too many streams are open, and `UNAVAILABLE` if the store cannot be read.
   */
  async open({ project, actorId, lastEventId }: StreamRequest): Promise<EventQueue> {
    if (this.#isStopped) throw new FlagError('UNAVAILABLE', 'The server is closed.')
    this.#assertRoom(actorId)
    const { projectId } = project
    const feed = this.#feeds.get(projectId) ?? new ProjectFeed(this.#options, project)
    const queue = new EventQueue((ended) => this.#left(ended, projectId))
    this.#feeds.set(projectId, feed)
    this.#open.set(queue, { actorId, projectId })
    this.#cancelCheck ??= this.#options.clock.schedule(CHECK_EVERY_MS, () => this.#check())
    try {
      await feed.join(queue, lastEventId)
    } catch (error) {
      queue.end()
      throw error
    }
    return queue
  }

  #assertRoom(actorId: string): void {
    const ofActor = [...this.#open.values()].filter((each) => each.actorId === actorId).length
    const isFull = this.#open.size >= MAX_STREAMS
    if (!isFull && ofActor < MAX_OF_ACTOR) return
    const message = isFull
      ? `This server has ${MAX_STREAMS} open event streams; try again later.`
      : `This user or access token has ${MAX_OF_ACTOR} open event streams; close one of them.`
    throw new FlagError('RATE_LIMITED', message, { details: { seconds: RETRY_AFTER_SECONDS } })
  }

  #left(queue: EventQueue, projectId: string): void {
    this.#open.delete(queue)
    this.#feeds.get(projectId)?.leave(queue)
    const isUsed = [...this.#open.values()].some((each) => each.projectId === projectId)
    if (!isUsed) this.#feeds.delete(projectId)
    if (this.#open.size > 0) return
    this.#cancelCheck?.()
    this.#cancelCheck = undefined
  }

  #check(): void {
    this.#cancelCheck = this.#options.clock.schedule(CHECK_EVERY_MS, () => this.#check())
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const feed of this.#feeds.values()) void feed.wake()
  }
}

/** Creates the use case of event streams. */
export function createProjectEventUseCases(streams: ProjectStreams) {
  return defineUseCases({
    /**
     * Returns the events of a project, without an end. The caller must iterate over them and, at the
     * end, call `return` on the iterator. Throws `RATE_LIMITED` if too many streams are open.
     */
    async streamProjectEvents({ organization, project, actor, lastEventId }) {
      const ref = { orgId: organization.id, projectId: project.id }
      return streams.open({ project: ref, actorId: actor.id, lastEventId })
    },
  })
}
