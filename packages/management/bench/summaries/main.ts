import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { memory, type Storage } from '@ff/storage'
import { sqlite } from '@ff/storage/sqlite'
import { copyStore, createProject, type Project } from './project.ts'

// Measures the list of flag summaries and a change of one flag, at the handler of the server.
const FLAGS = 5000
const ROUNDS = 40

const folder = await mkdtemp(join(tmpdir(), 'ff-bench-summaries-'))
try {
  for (const count of [FLAGS / 100, FLAGS]) await measureSqlite(count)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function measureSqlite(count: number): Promise<void> {
  const { storage, ...rest } = sqlite({ path: join(folder, `${count}.db`) })
  const flags = serverOf({ storage, ...rest })
  await flags.start()
  const project = await createProject(flags, storage, count)
  const began = performance.now()
  while ((await storage.list('flag', { where: { summary: null }, limit: 1 })).total > 0) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`${count} flags × 3 environments; all summaries derived ${seconds} s after the start`)
  await measure('SQLite', flags, project)
  if (count === FLAGS) await measureMemory(storage, project)
  await measureNewEnvironment(flags, project)
  await flags.close()
}

/** Measures a change that concerns all flags, and how long it blocks other tasks. */
async function measureNewEnvironment(flags: Server, { id, token }: Project): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const began = performance.now()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ key: 'new', copy_from: 'live' })
  const request = new Request(`http://bench/projects/${id}/envs`, { method: 'POST', headers, body })
  const { status } = await flags.fetch(request)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  const longest = (delay.max / 1e6).toFixed(0)
  console.log(
    `new environment: ${status}, ${seconds} s; longest delay of other tasks ${longest} ms`,
  )
}

async function measureMemory(from: Storage, project: Project): Promise<void> {
  const { storage, ...rest } = memory()
  const flags = serverOf({ storage, ...rest })
  await flags.start()
  await copyStore(from, storage)
  await measure('memory', flags, project, false)
  await flags.close()
}

function serverOf(capabilities: Parameters<typeof createFlagServer>[0]) {
  return createFlagServer({
    ...capabilities,
    management: createManagement({ managementRateLimit: 1_000_000, users: false }),
  })
}

type Server = ReturnType<typeof serverOf>

async function measure(
  name: string,
  flags: Server,
  { id, environmentIds, flagIds, token }: Project,
  withChanges = true,
): Promise<void> {
  const [live = ''] = environmentIds
  const headers = { authorization: `Bearer ${token}` }
  const list = `/projects/${id}/flag-summaries`
  const last = Math.ceil(flagIds.length / 200)
  const get = async (query: string, more = {}) => {
    const request = new Request(`http://bench${list}?${query}`, {
      headers: { ...headers, ...more },
    })
    const reply = await flags.fetch(request)
    await reply.text()
    return reply
  }
  const tag = (await get('')).headers.get('etag') ?? ''
  let round = 0
  const change = async () => {
    round += 1
    const path = `/projects/${id}/envs/${live}/flags/${flagIds[round]}`
    const body = JSON.stringify({ is_active: round % 2 === 0 })
    const sent = { ...headers, 'content-type': 'application/json' }
    await flags.fetch(new Request(`http://bench${path}`, { method: 'PUT', headers: sent, body }))
  }
  console.log(`${name}, ${flagIds.length} flags: ms per request, ${ROUNDS} rounds`)
  console.table({
    'first page by key': await timesOf(() => get('')),
    'unchanged (304)': await timesOf(() => get('', { 'if-none-match': tag })),
    'last page by key': await timesOf(() => get(`page=${last}`)),
    'first page by name': await timesOf(() => get('sort=name:asc')),
    'state=on': await timesOf(() => get('state=on')),
    'state=off in one environment': await timesOf(() => get(`state=off&env_id=${live}`)),
    'tag, state and search': await timesOf(() => get('tag=team-3&state=on&search=flag')),
    'no match': await timesOf(() => get('search=nothing')),
    '1,000 rows': await timesOf(() => get('limit=1000')),
    ...(withChanges && { 'change of one flag': await timesOf(change) }),
  })
}

/**
 * Returns the times of a request in milliseconds, and the mean CPU time of all threads, which
 * depends less on other activity of the machine.
 */
async function timesOf(work: () => Promise<unknown>) {
  // The first rounds warm up the code and the caches.
  for (let round = 0; round < 5; round += 1) await work()
  const times: number[] = []
  const cpuBefore = process.cpuUsage()
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  const { user, system } = process.cpuUsage(cpuBefore)
  times.sort((a, b) => a - b)
  const rounded = (ms: number) => Number(ms.toFixed(1))
  const at = (share: number) => rounded(times[Math.floor((times.length - 1) * share)] ?? 0)
  const cpu = rounded((user + system) / 1000 / ROUNDS)
  return { median: at(0.5), least: at(0), most: at(1), cpu }
}
