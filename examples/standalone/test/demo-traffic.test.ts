import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { RunningStandalone } from './running-standalone.ts'

const SLOW = { timeout: 120_000 }
const TOKEN = 'an-administrators-own-token'

function start(env: Record<string, string>, dataDir?: string): RunningStandalone {
  const standalone = new RunningStandalone({ FF_ADMIN_TOKEN: TOKEN, ...env }, dataDir)
  onTestFinished(() => standalone.destroy())
  return standalone
}

/** Returns the number of counted evaluation requests of the demo organization. */
async function evaluations(url: string): Promise<number> {
  const read = async (path: string) => {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${TOKEN}` } })
    return ((await answer.json()) as { data: never }).data
  }
  const { data } = (await read('/organizations')) as { data: { id: string }[] }
  const usage = (await read(`/organizations/${data[0]?.id}/usage`)) as { api_usage: number }
  return usage.api_usage
}

it.each(['1', '2'])(
  'With FF_DEMO_TRAFFIC=1, one of %s process(es) evaluates 20 times per second, and the server stops as fast as without',
  SLOW,
  async (workers) => {
    const first = start({ FF_DEMO_TRAFFIC: '1', FF_WORKERS: workers })
    const url = await first.listening()
    const since = performance.now()
    await expect.poll(() => evaluations(url), { timeout: 20_000 }).toBeGreaterThan(30)
    const counted = await evaluations(url)
    // The introduction is printed later than the traffic begins, by up to some seconds.
    expect(counted).toBeLessThan(((performance.now() - since) / 1000 + 5) * 20)
    const stopping = performance.now()
    first.stop('SIGTERM')
    expect(await first.ended).toBe(0)
    expect(performance.now() - stopping).toBeLessThan(8000)
    expect(first.log).not.toContain('The demo traffic')

    const next = start({}, first.dataDir)
    const nextUrl = await next.listening()
    const before = await evaluations(nextUrl)
    expect(before).toBeGreaterThanOrEqual(counted)
    await pause(1500)
    expect(await evaluations(nextUrl)).toBe(before)
  },
)
