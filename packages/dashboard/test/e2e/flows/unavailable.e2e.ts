import type { BrowserContext, Request } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { publishing } from '../../../src/messages/en/publishing.ts'
import { messages } from '../../../src/messages/messages.ts'
import { openPage, useBrowser } from '../browser.ts'
import { FlagEditor } from '../driver/flag-editor.ts'
import { Mouse } from '../driver/mouse.ts'
import { RunningServer, useServer } from '../running-server.ts'
import { FaultyProxy } from '../seed/faulty-proxy.ts'
import { DEMO, Shop } from '../seed/shop.ts'

const FLAG = 'new-checkout'
const RULE = 'A quarter of customers'
const CONFIGURATION = `**/flags/*/configuration`
/** What Chromium logs for the failures that these tests provoke. */
const permitted = [
  /^failed: /,
  /^console: .*(?:Failed to load resource|ERR_|preload CSS|dynamically imported)/,
]

/** The beginning of the sentence about a server that cannot be reached. */
const OFFLINE = messages.errors.unreachable

const server = useServer()
const browser = useBrowser()
let shop: Shop

beforeAll(async () => {
  shop = await Shop.of(server())
})

/** Returns `true` for a request that publishes, and `false` for a check of the draft. */
function isPublish(request: Request): boolean {
  return request.method() === 'PUT' && !request.postData()?.includes('"dry_run":true')
}

/** Opens the flag and makes a draft with another share. */
async function draft(share: number, at: Shop = shop) {
  const address = at.page(`flags/${FLAG}?env=live`)
  const prepare = at.owner.giveTo.bind(at.owner)
  const page = await openPage(browser(), address, { prepare, permitted })
  const editor = new FlagEditor(page, new Mouse(page))
  await editor.editRule(RULE)
  await editor.setShare(share)
  await editor.bar.waitFor()
  return { page, editor }
}

describe('A publish while the server', () => {
  it('does not answer the request that it has carried out publishes once, however often it is repeated', async () => {
    const { page, editor } = await draft(41)
    const before = await shop.version()
    let sent = 0
    await page.route(CONFIGURATION, async (route) => {
      if (!isPublish(route.request())) return route.continue()
      sent += 1
      if (sent > 1) return route.continue()
      await route.fetch()
      await route.abort('connectionreset')
    })
    await editor.review()
    await editor.confirm()
    await page.getByText(publishing.review.unknown).waitFor()
    await page.getByRole('button', { name: publishing.review.retry, exact: true }).click()
    await page.getByRole('region', { name: publishing.convergence.region }).waitFor()
    expect(sent).toBe(2)
    expect(await shop.version()).toBe(before + 1)
  })

  it.each([
    [503, 'UNAVAILABLE'],
    [429, 'RATE_LIMITED'],
  ])('responds with %i keeps the draft and publishes after another try', async (status, code) => {
    const { page, editor } = await draft(status === 503 ? 42 : 43)
    const before = await shop.version()
    let isDown = true
    await page.route(CONFIGURATION, (route) => {
      if (!isPublish(route.request()) || !isDown) return route.continue()
      const body = { statusCode: status, message: 'The test refuses this.', data: { code } }
      const headers = { 'retry-after': '1' }
      return route.fulfill({ status, headers, json: body })
    })
    const dialog = await editor.review()
    await editor.confirm()
    await dialog.getByRole('alert').waitFor()
    expect(await shop.version()).toBe(before)
    isDown = false
    await dialog
      .getByRole('button', {
        name: new RegExp(`${publishing.review.retry}|${publishing.review.publish(DEMO.name)}`),
      })
      .click({ timeout: 15_000 })
    await page.getByRole('region', { name: publishing.convergence.region }).waitFor()
    expect(await shop.version()).toBe(before + 1)
  })

  it('takes ten seconds publishes once, although the button is pressed again', async () => {
    const { page, editor } = await draft(44)
    const before = await shop.version()
    let sent = 0
    await page.route(CONFIGURATION, async (route) => {
      if (!isPublish(route.request())) return route.continue()
      sent += 1
      await new Promise((resolve) => setTimeout(resolve, 10_000))
      await route.continue()
    })
    await editor.review()
    await editor.confirm()
    const name = publishing.review.publish(DEMO.name)
    await page.getByRole('button', { name }).first().click({ force: true })
    await page.keyboard.press('Enter')
    await page
      .getByRole('region', { name: publishing.convergence.region })
      .waitFor({ timeout: 20_000 })
    expect(sent).toBe(1)
    expect(await shop.version()).toBe(before + 1)
  })
})

it('While the server is stopped, the page says so and keeps its data and the draft, which is published afterwards', async () => {
  const stopped = await RunningServer.start()
  const own = await Shop.of(stopped)
  const { page, editor } = await draft(45, own)
  const before = await own.version()
  await stopped.stop()
  await page.getByText(OFFLINE).first().waitFor({ timeout: 30_000 })
  await editor.bar.waitFor()
  await expect.poll(() => editor.canReview()).toBe(false)
  const again = await stopped.restart()
  onTestFinished(() => again.close())
  await page.getByText(OFFLINE).first().waitFor({ state: 'hidden', timeout: 60_000 })
  await editor.publish()
  expect(await own.version()).toBe(before + 1)
})

it('A file that an upgrade has removed is reported plainly after one reload, and the draft is kept', async () => {
  const { page, editor } = await draft(46)
  let reloads = 0
  page.on('request', (request) => {
    reloads += request.isNavigationRequest() ? 1 : 0
  })
  await page.route('**/assets/playground-page-*', (route) => route.fulfill({ status: 404 }))
  await page.getByRole('link', { name: messages.shell.playground, exact: true }).click()
  await page.getByText(messages.errors.pageFailed).first().waitFor()
  await page.getByText(messages.errors.pageFailedHint).waitFor()
  expect(reloads).toBe(1)
  await page.goto(shop.page(`flags/${FLAG}?env=live`))
  await editor.bar.waitFor()
})

it.each(['cut', 'buffered'] as const)(
  'With an event stream that is %s, the page shows the change of another user within seconds',
  async (fault) => {
    const proxy = await FaultyProxy.start(shop.url, fault)
    const address = shop.page('flags').replace(shop.url, proxy.url)
    const page = await openPage(browser(), address, {
      permitted,
      prepare: async (context) => {
        await shop.owner.giveTo(context)
      },
    })
    const name = messages.flagSwitch.label('Loyalty points', DEMO.name)
    const cell = page.getByRole('switch', { name, exact: true })
    const before = await cell.getAttribute('aria-checked')
    await shop.configure('loyalty-points', (now) => ({
      ...now,
      state: { ...now.state, is_active: before !== 'true' },
    }))
    const now = () => cell.getAttribute('aria-checked')
    await expect.poll(now, { timeout: 25_000 }).toBe(before === 'true' ? 'false' : 'true')
    expect(proxy.streams).toBeGreaterThan(0)
  },
)

it('With a clock that is one hour ahead, a draft is published and the times are not in the future', async () => {
  const prepare = async (context: BrowserContext) => {
    await shop.owner.giveTo(context)
    await context.addInitScript(() => {
      const now = Date.now.bind(Date)
      Date.now = () => now() + 3_600_000
    })
  }
  const address = shop.page(`flags/${FLAG}?env=live`)
  const page = await openPage(browser(), address, { prepare })
  const editor = new FlagEditor(page, new Mouse(page))
  const before = await shop.version()
  await editor.editRule(RULE)
  await editor.setShare(47)
  await editor.publish()
  expect(await shop.version()).toBe(before + 1)
})
