import { createManagement, SYSTEM } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { dataFileOf } from '../src/data-folder/data-folder.ts'
import { DEMO_USERS } from '../src/demo/demo-traffic.ts'
import { RunningStandalone } from './running-standalone.ts'

const TOKEN = 'an-administrators-own-token'

// biome-ignore lint/suspicious/noExplicitAny: the test reads parts of responses
type Json = any

function start(env: Record<string, string>, dataDir?: string): RunningStandalone {
  const standalone = new RunningStandalone({ FF_ADMIN_TOKEN: TOKEN, ...env }, dataDir)
  onTestFinished(() => standalone.destroy())
  return standalone
}

async function read(url: string, path: string): Promise<Json> {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${TOKEN}` } })
  return ((await answer.json()) as Json).data
}

/** Returns the number of counted evaluation requests of the demo organization. */
async function evaluations(url: string): Promise<number> {
  const { data } = await read(url, '/organizations')
  return (await read(url, `/organizations/${data[0].id}/usage`)).api_usage
}

/** Returns this number from the data of a server that has ended. */
async function storedEvaluations(dataDir: string): Promise<number> {
  const path = dataFileOf({ dataDir })
  const flags = createFlagServer({ ...sqlite({ path }), management: createManagement() })
  const management = flags.as(SYSTEM)
  const [organization] = (await management.listOrganizations({ query: {} })).data
  const params = { orgId: organization?.id ?? '' }
  const { apiUsage } = await management.getOrganizationUsage({ params })
  await flags.close()
  return apiUsage
}

async function end(server: RunningStandalone): Promise<void> {
  server.stop('SIGTERM')
  expect(await server.ended).toBe(0)
}

it.each(['1', '2'])(
  'With FF_DEMO_TRAFFIC=1, one of %s process(es) evaluates for each user in turn, and the server stops',
  async (workers) => {
    const first = start({ FF_DEMO_TRAFFIC: '1', FF_WORKERS: workers })
    const url = await first.listening()
    await expect.poll(() => evaluations(url)).toBeGreaterThan(30)
    await end(first)
    expect(first.log).not.toContain('The demo traffic')

    const next = start({}, first.dataDir)
    const nextUrl = await next.listening()
    const counted = await evaluations(nextUrl)
    expect(counted).toBeGreaterThan(30)
    const { data } = await read(nextUrl, '/contexts/observed-contexts?perPage=100')
    expect(data.length).toBeGreaterThan(30)
    // If two processes evaluated, each of them would begin with the first user.
    const most = Math.ceil(counted / DEMO_USERS.length)
    for (const { seen_count: count } of data) expect(count).toBeLessThanOrEqual(most)
    await end(next)
    expect(await storedEvaluations(first.dataDir)).toBe(counted)
  },
)
