import { FlagError } from '@ff/core'
import type { Cancel } from '@ff/server/plane'
import type { ChangeFeed, Unsubscribe } from '@ff/storage'
import { defineUseCases } from '../changes/use-case.ts'
import { EventQueue } from './event-queue.ts'
import type { ProjectRef } from './missed-events.ts'
import { type FeedServices, ProjectFeed } from './project-feed.ts'

/** The maximum number of open streams of this instance, of one organization, and of one actor. */
const MAX_STREAMS = 500
const MAX_OF_ORGANIZATION = MAX_STREAMS / 2
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
  readonly orgId: string
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
   * Opens a stream. If this instance has no room, the oldest stream of the organization with the most
   * streams ends, unless the new stream belongs to an organization with as many. The caller must
   * iterate until the stream ends, or call `return` on its iterator. Throws `RATE_LIMITED` if too many
   * streams are open, and `UNAVAILABLE` if the store cannot be read.
   */
  async open({ project, actorId, lastEventId }: StreamRequest): Promise<EventQueue> {
    if (this.#isStopped) throw new FlagError('UNAVAILABLE', 'The server is closed.')
    const { orgId, projectId } = project
    this.#makeRoom(orgId, actorId)
    const feed = this.#feeds.get(projectId) ?? new ProjectFeed(this.#options, project)
    const queue = new EventQueue((ended) => this.#left(ended, projectId))
    this.#feeds.set(projectId, feed)
    this.#open.set(queue, { actorId, orgId, projectId })
    this.#cancelCheck ??= this.#options.clock.schedule(CHECK_EVERY_MS, () => this.#check())
    try {
      await feed.join(queue, lastEventId)
    } catch (error) {
      queue.end()
      throw error
    }
    return queue
  }

  /** Ends another stream if this instance is full. Throws if a limit is reached. */
  #makeRoom(orgId: string, actorId: string): void {
    const streams = [...this.#open.values()]
    if (streams.filter((each) => each.actorId === actorId).length >= MAX_OF_ACTOR) {
      throw tooMany(
        `This user or access token has ${MAX_OF_ACTOR} open event streams; close one of them.`,
      )
    }
    const counts = new Map<string, number>()
    for (const each of streams) counts.set(each.orgId, (counts.get(each.orgId) ?? 0) + 1)
    const own = counts.get(orgId) ?? 0
    if (own >= MAX_OF_ORGANIZATION) {
      throw tooMany(
        `This organization has ${MAX_OF_ORGANIZATION} open event streams; close one of them.`,
      )
    }
    if (streams.length < MAX_STREAMS) return
    const [[largest, most]] = [...counts].sort(([, a], [, b]) => b - a) as [[string, number]]
    // An organization with one stream less would have to give way next.
    if (most <= own + 1)
      throw tooMany(`This server has ${MAX_STREAMS} open event streams; try again later.`)
    const oldest = [...this.#open].find(([, stream]) => stream.orgId === largest)
    oldest?.[0].end()
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

function tooMany(message: string): FlagError {
  return new FlagError('RATE_LIMITED', message, { details: { seconds: RETRY_AFTER_SECONDS } })
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
