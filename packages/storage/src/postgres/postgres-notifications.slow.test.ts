import { expect, inject, it, onTestFinished, vi } from 'vitest'
import { openFreezingProxy } from '../../test/postgres-proxy.ts'
import { postgresUrl } from '../../test/postgres-schema.ts'
import { newPostgresSchema, openPostgres } from '../../test/postgres-store.ts'

const pooler = inject('pgBouncerUrl')

/** Subscribes, and returns the changes that arrive and the warnings. */
async function listenWith(options: { readonly url: string; readonly listenUrl?: string }) {
  const warnings: string[] = []
  const received: unknown[] = []
  const ports = openPostgres({ ...options, onWarning: (message) => warnings.push(message) })
  await ports.changeFeed?.subscribe((change) => received.push(change))
  return { ...ports, warnings, received }
}

/** Lets a test advance intervals. All other timers are real. */
function fakeIntervals(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
}

it.skipIf(pooler === '')(
  'A pooler that swallows notifications is reported once, with the name of the option and without the password',
  async () => {
    fakeIntervals()
    const { warnings, received } = await listenWith({ url: pooler })
    await expect.poll(() => warnings.length).toBe(1)
    expect(warnings[0]).toMatch(/^`listenUrl`: Notifications of PostgreSQL at 127\.0\.0\.1:\d+\//)
    await vi.advanceTimersByTimeAsync(120_000)
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect([warnings.length, received]).toEqual([1, []])
  },
)

it.skipIf(pooler === '')(
  'A connection that listens without the pooler causes no warning',
  async () => {
    const { warnings, changeFeed, received } = await listenWith({
      url: pooler,
      listenUrl: postgresUrl(),
    })
    await changeFeed?.publish({ type: 'sdkKeys' })
    await expect.poll(() => received).toEqual([{ type: 'sdkKeys' }])
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect(warnings).toEqual([])
  },
)

it('A connection that stops to deliver notifications is opened again, and causes no warning', async () => {
  fakeIntervals()
  const { url } = await newPostgresSchema()
  const proxy = await openFreezingProxy(url)
  const { warnings, received, changeFeed } = await listenWith({ url, listenUrl: proxy.url })
  await changeFeed?.publish({ type: 'sdkKeys' })
  await expect.poll(() => received).toEqual([{ type: 'sdkKeys' }])
  proxy.freeze()
  await vi.advanceTimersByTimeAsync(60_000)
  await new Promise((resolve) => setTimeout(resolve, 3000))
  proxy.thaw()
  await expect.poll(() => received.slice(1)).toContainEqual({ type: 'resync' })
  expect(warnings).toEqual([])
})
