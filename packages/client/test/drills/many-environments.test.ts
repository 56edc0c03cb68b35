import { expect, it } from 'vitest'
import { type Environment, fillStore, type Size } from '../../../management/bench/scale/store.ts'
import { IS_FULL, report, sized } from '../../../server/test/drills/scale.ts'
import {
  CONVERGED_WITHIN_MS,
  converge,
  type ObservedClient,
  observeUntilTheEnd,
  remoteClient,
} from './observed-client.ts'
import { ServedFile } from './served-file.ts'

const SIZE: Size = {
  environments: sized({ full: 600, small: 30 }),
  flags: sized({ full: 100, small: 20 }),
}
/** With the small size, about ten environments fit in the budget. */
const LIMITS = IS_FULL ? { heapMiB: 256 } : { flagSetBytes: 1_800_000 }
const SOCKETS = sized({ full: 200, small: 10 })
const POLLS = sized({ full: 200, small: 10 })
/** The number of environments with clients. */
const LIVE = sized({ full: 20, small: 5 })
const KILLS = sized({ full: 3, small: 2 })
/** The number of changes between two kills, and after them. */
const CHANGES = sized({ full: 20, small: 4 })
/** The number of environments that are evaluated after each change. */
const EVALUATED = sized({ full: 50, small: 10 })
const MINUTE_MS = 60_000
/** The minutes after the kills in which the memory is observed. */
const MINUTES = 9

/** A project with a flag that is the same in its environments. */
interface Project {
  readonly id: string
  readonly environments: readonly Environment[]
  readonly clients: ObservedClient[]
  /** The path of the variation that the flag serves. */
  readonly variation: string
  count: number
}

it(
  'With more environments than the memory holds, no value is wrong and no change is lost, although the server is killed',
  async () => {
    const file = await ServedFile.create(LIMITS)
    const environments = await fillStore(file.path, SIZE)
    await file.start()
    const projects = await addCounters(file, environments)
    const live = projects.filter(({ environments: [first] }) => {
      return first !== undefined && environments.indexOf(first) < LIVE
    })
    connect(file, live, environments.slice(0, LIVE))
    const clients = live.flatMap((project) => project.clients)
    expect(clients).toHaveLength(SOCKETS + POLLS)
    await converge(clients, 0)
    observeUntilTheEnd(clients)
    const drill = { file, projects, live, evaluated: 0 }
    for (let kill = 0; kill < KILLS; kill += 1) {
      for (let change = 0; change < CHANGES; change += 1) await changeOne(drill)
      await file.restart()
    }
    for (let change = 0; change < CHANGES; change += 1) await changeOne(drill)
    if (IS_FULL) await observeMemory(drill)
    for (const project of projects) {
      for (const environment of project.environments) await expectValue(drill, project, environment)
    }
    const drops = await file.metric('ff_flag_sets_dropped_total')
    expect(drops).toBeGreaterThan(SIZE.environments / 2)
    expect(file.isRunning).toBe(true)
    report(
      `${SIZE.environments} environments, ${clients.length} clients, ${KILLS} kills: ` +
        `${projects.reduce((sum, { count }) => sum + count, 0)} changes, ${drill.evaluated} evaluations, ` +
        `${drops} flag sets dropped`,
    )
  },
  (KILLS + 2) * CONVERGED_WITHIN_MS + (IS_FULL ? 2 * MINUTES * MINUTE_MS : 0),
)

interface Drill {
  readonly file: ServedFile
  readonly projects: readonly Project[]
  /** The projects with clients. */
  readonly live: readonly Project[]
  evaluated: number
}

/** Changes the flag of one project, and asserts that its clients and random environments have it. */
async function changeOne(drill: Drill): Promise<void> {
  const { file, projects, live } = drill
  const changed = randomOf(Math.random() < 0.5 ? live : projects)
  const count = changed.count + 1
  await file.manage('PUT', changed.variation, { value: `value ${count}` })
  changed.count = count
  const others = Array.from({ length: EVALUATED }, () => randomOf(projects))
  for (const project of [changed, ...others]) {
    await expectValue(drill, project, randomOf(project.environments))
  }
  await converge(changed.clients, count)
}

/** Asserts that an evaluation of an environment returns the last value of its project. */
async function expectValue(drill: Drill, { count }: Project, environment: Environment) {
  expect(await evaluate(drill.file, environment)).toBe(`value ${count}`)
  drill.evaluated += 1
}

/** Goes on for some minutes, and asserts that the memory that is in use does not grow. */
async function observeMemory(drill: Drill): Promise<void> {
  const leastHeap: number[] = []
  const end = performance.now() + MINUTES * MINUTE_MS
  for (let minute = 1; minute <= MINUTES; minute += 1) {
    // The least size in a minute with many collections is the size after one of them.
    let least = Number.POSITIVE_INFINITY
    while (performance.now() < end - (MINUTES - minute) * MINUTE_MS) {
      await changeOne(drill)
      least = Math.min(least, await drill.file.metric('ff_heap_used_bytes'))
    }
    leastHeap.push(least)
  }
  const megabytes = leastHeap.map((bytes) => (bytes / 1e6).toFixed(0))
  report(`Heap after collection in each minute: ${megabytes.join(', ')} MB`)
  expect(leastHeap.at(-1)).toBeLessThanOrEqual(1.1 * (leastHeap[1] ?? 0))
}

async function evaluate({ url }: ServedFile, { sdkKey }: Environment): Promise<unknown> {
  const response = await fetch(`${url}/evaluator/evaluate`, {
    method: 'POST',
    headers: { 'x-api-key': sdkKey, 'content-type': 'application/json' },
    body: JSON.stringify({ context: { kind: 'user', key: 'user-1' } }),
  })
  expect(response.status).toBe(200)
  return ((await response.json()) as { counter?: unknown }).counter
}

/** Adds the flag to each project. */
async function addCounters(
  file: ServedFile,
  environments: readonly Environment[],
): Promise<readonly Project[]> {
  const projects: Project[] = []
  for (const id of new Set(environments.map(({ projectId }) => projectId))) {
    const own = environments.filter(({ projectId }) => projectId === id)
    const variations = ['main', 'spare'].map((key) => ({ key, value: 'value 0' }))
    const body = { key: 'counter', type: 'string', variations }
    const made = await file.manage<{ id: string; variations: { id: string }[] }>(
      'POST',
      `/projects/${id}/flags`,
      body,
    )
    const variation = `/projects/${id}/flags/${made.id}/variations/${made.variations[0]?.id}`
    projects.push({ id, environments: own, clients: [], variation, count: 0 })
  }
  return projects
}

/** Connects the clients, which are divided among the environments. */
function connect(
  { url }: ServedFile,
  projects: readonly Project[],
  environments: readonly Environment[],
): void {
  for (let number = 0; number < SOCKETS + POLLS; number += 1) {
    const { sdkKey, projectId } = environments[number % environments.length] as Environment
    const transport = number < SOCKETS ? 'socket' : 'long-poll'
    const project = projects.find(({ id }) => id === projectId)
    project?.clients.push(remoteClient({ url, sdkKey }, transport))
  }
}

function randomOf<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T
}
