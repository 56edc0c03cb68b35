import type { ChangeFeed, ChangeListener } from '@ff/storage'
import { expect, it, onTestFinished } from 'vitest'
import { openMigratedPostgres } from '../../../storage/test/postgres-store.ts'
import { type PostgresTraffic, watchPostgres } from '../../../storage/test/postgres-traffic.ts'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import type { ManagementPlane } from '../../src/management-plane.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock } from '../fake-clock.ts'
import { addEnvironment, addSdkKey, flagChange, publish, seed, textFlag } from '../seed.ts'
import { TestSocket } from '../test-socket.ts'
import { report, sized } from './scale.ts'

/*
 * Many instances in one process, over one PostgreSQL database and with simulated time. It counts the
 * statements that they send and the messages that the change feed delivers to them. The instances
 * share the connections of one adapter, which does not change the number of statements.
 */

const INSTANCES = sized({ full: 1000, small: 20 })
const ENVIRONMENTS = sized({ full: 10, small: 5 })
const FLAGS = 10

/** Fewer than the hundred shares in which the limit of a key is leased. */
const INSTANCES_PER_KEY = 50

/** Statements of an idle instance in five seconds, with the `begin` and `commit` of transactions. */
const MOST_IDLE = 9
/** Statements of an instance that loads a change. The publication itself adds ten at one instance. */
const MOST_PER_CHANGE = 9
/** Statements of an instance that reports a delivery to the others. */
const MOST_REPORTS = 12

/** A plane with one shared job, so that the instances compete for the lease of the jobs. */
const plane: ManagementPlane<undefined> = {
  connect: () => ({
    handle: () => Promise.reject(new Error('The simulation sends no requests.')),
    templateOf: () => undefined,
    jobs: [{ name: 'nothing', everyMs: 5000, isShared: true, run: async () => undefined }],
    as: undefined,
    start: async () => undefined,
    stop: () => undefined,
    close: async () => undefined,
  }),
}

/** Wraps a change feed so that the deliveries are counted: one for each message and subscriber. */
function counting(feed: ChangeFeed) {
  const counter = { deliveries: 0 }
  const subscribe = (listener: ChangeListener) =>
    feed.subscribe((change) => {
      counter.deliveries += 1
      listener(change)
    })
  return { counter, changeFeed: { publish: feed.publish.bind(feed), subscribe } }
}

/** What one event has caused, at all instances together. */
interface Cost {
  readonly statements: number
  readonly messages: number
  readonly kilobytes: number
}

class Simulation {
  readonly clock = new FakeClock()
  readonly #traffic: PostgresTraffic
  readonly #counter: { deliveries: number }

  constructor(traffic: PostgresTraffic, counter: { deliveries: number }) {
    this.#traffic = traffic
    this.#counter = counter
  }

  /** Performs an action, passes time, and returns the cost until no more statements are sent. */
  async cost(action: () => Promise<unknown>, ms = 0): Promise<Cost> {
    await this.#traffic.quiet()
    this.#traffic.reset()
    this.#counter.deliveries = 0
    await action()
    await this.#traffic.quiet()
    await this.clock.advance(ms)
    await this.#traffic.quiet()
    const kilobytes = Math.round(this.#traffic.bytesRead() / 1000)
    const { length: statements } = this.#traffic.statements
    return { statements, messages: this.#counter.deliveries, kilobytes }
  }
}

/** Prints a cost, and returns the statements of one instance. */
function perInstance(title: string, { statements, messages, kilobytes }: Cost): number {
  const each = statements / INSTANCES
  report(
    `${title}: ${statements} statements (${each.toFixed(2)} for each instance), ${messages} messages, ${kilobytes} kB read`,
  )
  return each
}

/** Connects a live client to an instance. */
function connect(flags: FlagServer, sdkKey: string): TestSocket {
  const socket = new TestSocket()
  const context = { kind: 'user', key: 'user-1' }
  flags.acceptSocket(socket).receive(JSON.stringify({ type: 'init', sdkKey, context }))
  return socket
}

const nothing = async () => undefined

it('An instance sends a bounded number of statements, and receives one message for each change', {
  timeout: 900_000,
}, async () => {
  const { storage, rateLimiter, instanceReports } = await openMigratedPostgres({
    readConnections: 10,
  })
  const { live } = await seed(storage)
  const others = await Promise.all(
    Array.from({ length: ENVIRONMENTS - 1 }, (_, at) => {
      return addEnvironment(storage, live.projectId, `environment-${at}`)
    }),
  )
  const keys: string[] = []
  for (let at = 0; at < INSTANCES; at += INSTANCES_PER_KEY) {
    keys.push((await addSdkKey(storage, live)).sdkKey)
  }
  const all = [live, ...others].map(({ environmentId }) => environmentId)
  const definitions = Array.from({ length: FLAGS }, (_, at) => textFlag(`flag-${at}`, 'a'))
  const { counter, changeFeed } = counting(allInMemory().changeFeed)
  const ports = { storage, changeFeed }
  for (const id of all) await publish(ports, id, ...definitions.map(flagChange))

  const simulation = new Simulation(watchPostgres(), counter)
  const { clock } = simulation
  const shared = { ...storage, close: nothing }
  const options = { storage: shared, changeFeed, rateLimiter, instanceReports, management: plane }
  const instances: FlagServer[] = Array.from({ length: INSTANCES }, () =>
    createFlagServer({ ...options, clock }),
  )
  onTestFinished(async () => {
    await Promise.all(instances.map((flags) => flags.close()))
  })

  const atEach = (work: (flags: FlagServer) => Promise<unknown>) => Promise.all(instances.map(work))
  const evaluate = (ids: readonly string[]) =>
    atEach(async (flags) => {
      for (const environmentId of ids) await flags.allOrThrow({ environmentId }, {})
    })
  const five = 5000
  report(`${INSTANCES} instances, ${ENVIRONMENTS} environments of ${FLAGS} flags`)

  const start = await simulation.cost(() => atEach((flags) => flags.start()))
  perInstance('Start of all', start)
  // All instances begin at the same time, so their timers are due at the same time.
  await simulation.cost(nothing, 2 * five)
  const idle = await simulation.cost(nothing, five)
  const idleEach = perInstance('Idle, without environments, in 5 s', idle)
  perInstance(
    'First evaluation in one environment',
    await simulation.cost(() => evaluate([live.environmentId])),
  )
  perInstance('Its usage, and idle, in 20 s', await simulation.cost(nothing, 20_000))
  const one = await simulation.cost(nothing, five)
  const oneEach = perInstance('Idle, with one environment, in 5 s', one)
  await simulation.cost(() => evaluate(all), 20_000)
  const many = await simulation.cost(nothing, five)
  const manyEach = perInstance(`Idle, with ${ENVIRONMENTS} environments, in 5 s`, many)
  for (const each of [idleEach, oneEach, manyEach]) expect(each).toBeLessThan(MOST_IDLE)

  const change = (value: string) =>
    publish(ports, live.environmentId, flagChange(textFlag('flag-0', value)))
  const changed = await simulation.cost(() => change('b'))
  perInstance('A change of one flag', changed)
  expect(changed.messages).toBe(INSTANCES)
  expect(changed.statements / INSTANCES).toBeLessThan(MOST_PER_CHANGE)

  const key = await simulation.cost(async () => {
    await addSdkKey(storage, live)
    await changeFeed.publish({ type: 'sdkKeys' })
  }, 500)
  perInstance('A new SDK key', key)

  const clients = instances.map((flags, at) => connect(flags, keys[at % keys.length] ?? ''))
  await simulation.cost(nothing, 2 * five)
  const watched = await simulation.cost(nothing, five)
  perInstance('Idle, with a live client at each instance, in 5 s', watched)
  expect(clients.filter(({ closedWith }) => closedWith === undefined)).toHaveLength(INSTANCES)
  const delivered = await simulation.cost(() => change('c'), 1000)
  perInstance('A change of one flag, with a live client at each instance', delivered)
  expect(delivered.statements / INSTANCES).toBeLessThan(MOST_PER_CHANGE + MOST_REPORTS)
})
