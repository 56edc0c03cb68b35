// Measures the list of flags on a slow machine and network, and prints the median and all values:
// `pnpm --filter @ff/dashboard timings`.
import type { Browser, CDPSession, Page } from 'playwright-core'
import { messages } from '../../src/messages/messages.ts'
import { ApiSession } from './api-session.ts'
import { launchBrowser, VIEWPORTS } from './browser.ts'
import { startLargeShop } from './seed/large-shop.ts'

const ROUNDS = 5
const FLAGS = 5000
const SLOWDOWN = 4
const BYTES_PER_SECOND = 10_000_000 / 8
const LATENCY_MS = 40

/** The limits of the design, in milliseconds except for the layout shift. */
const LIMITS = {
  firstPaint: 1200,
  listShown: 2500,
  layoutShift: 0.02,
  interaction: 200,
  search: 150,
} as const

type Figure = keyof typeof LIMITS
type Figures = Record<Figure, number>

const browser = await launchBrowser()
const { server, project } = await startLargeShop(FLAGS)
try {
  const owner = await ApiSession.ofOwner(server)
  const address = `${server.url}/dashboard/p/${project}/flags`
  const rounds: Figures[] = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure(address, owner))
  for (const [name, limit] of Object.entries(LIMITS) as [Figure, number][]) {
    const values = rounds.map((round) => round[name])
    const median = [...values].sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN
    const verdict = median <= limit ? 'within' : 'ABOVE'
    const all = values.map((value) => Number(value.toFixed(3))).join(', ')
    process.stdout.write(`${name}: ${median.toFixed(3)} (${all}), ${verdict} ${limit}\n`)
    if (median > limit) process.exitCode = 1
  }
} finally {
  await browser.close()
  await server.close()
}

/** Opens the list in a new context, and measures it. */
async function measure(address: string, owner: ApiSession): Promise<Figures> {
  const context = await (browser as Browser).newContext({ viewport: VIEWPORTS.wide })
  try {
    await owner.giveTo(context)
    await context.addInitScript(observe)
    const page = await context.newPage()
    await slowDown(await context.newCDPSession(page))
    await page.goto(address, { waitUntil: 'commit' })
    // A locator that waits would search the page in each frame, and slow it down.
    await page.waitForFunction(() => Reflect.has(window, 'listShown'), null, { polling: 200 })
    await page.waitForTimeout(2000)
    const listShown = await page.evaluate(() => Number(Reflect.get(window, 'listShown')))
    const firstPaint = await page.evaluate(
      () => performance.getEntriesByName('first-paint')[0]?.startTime ?? 0,
    )
    const layoutShift = await page.evaluate(() => Number(Reflect.get(window, 'layoutShift')))
    const search = await searchTime(page)
    await page.keyboard.press('ArrowDown')
    await page.getByRole('switch').first().click()
    await page.waitForTimeout(1000)
    const interaction = await page.evaluate(() => Number(Reflect.get(window, 'interaction')))
    return { firstPaint, listShown, layoutShift, interaction, search }
  } finally {
    await context.close()
  }
}

async function slowDown(session: CDPSession): Promise<void> {
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: BYTES_PER_SECOND,
    uploadThroughput: BYTES_PER_SECOND,
  })
}

/** Returns the time from a key press in the search to the painted result, without slowdown. */
async function searchTime(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  await session.send('Network.disable')
  await page.getByRole('searchbox', { name: messages.flags.search }).fill('flag-0432')
  await page.getByText('flag-04320').first().waitFor()
  await page.evaluate(watchSearch)
  await page.keyboard.press('1')
  const time = await page.evaluate(() => Reflect.get(window, 'searchTime') as Promise<number>)
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  return time
}

/** Runs in the page: measures from the next key press until one flag is left and painted. */
function watchSearch(): void {
  const found = new Promise((resolve) => {
    document.addEventListener(
      'keydown',
      () => {
        const began = performance.now()
        const check = () => {
          const text = document.querySelector('main')?.textContent ?? ''
          const isShown = text.includes('flag-04321') && !text.includes('flag-04320')
          requestAnimationFrame(isShown ? () => resolve(performance.now() - began) : check)
        }
        check()
      },
      { once: true, capture: true },
    )
  })
  Reflect.set(window, 'searchTime', found)
}

/**
 * Runs in the page before its scripts: records the time of the frame after the first rows, layout
 * shifts, and the longest interaction.
 */
function observe(): void {
  const check = () => {
    const isShown = document.querySelector('main')?.textContent?.includes('flag-00000') === true
    const shown = () => Reflect.set(window, 'listShown', performance.now())
    requestAnimationFrame(isShown ? shown : check)
  }
  check()
  Reflect.set(window, 'layoutShift', 0)
  Reflect.set(window, 'interaction', 0)
  const add = (name: string, value: number) =>
    Reflect.set(window, name, Number(Reflect.get(window, name)) + value)
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (Reflect.get(entry, 'hadRecentInput') !== true) {
        add('layoutShift', Number(Reflect.get(entry, 'value')))
      }
    }
  }).observe({ type: 'layout-shift', buffered: true })
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const longest = Number(Reflect.get(window, 'interaction'))
      Reflect.set(window, 'interaction', Math.max(longest, entry.duration))
    }
  }).observe({ type: 'event', buffered: true, durationThreshold: 16 } as PerformanceObserverInit)
}
