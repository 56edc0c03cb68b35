import { afterAll, beforeAll, expect, it } from 'vitest'
import { messages } from '../../../src/messages/messages.ts'
import { openPage, useBrowser } from '../browser.ts'
import { useServer } from '../running-server.ts'
import { DEMO, Shop } from '../seed/shop.ts'
import { SocketClient } from '../seed/socket-clients.ts'

const IS_FULL = process.env['FF_DRILLS'] === 'full'
const SOCKETS = IS_FULL ? 1000 : 100
const WITHIN_MS = 1000

const server = useServer({ FF_WORKERS: '2' })
const browser = useBrowser()
const { flagSwitch } = messages
let shop: Shop
let clients: readonly SocketClient[] = []

beforeAll(async () => {
  shop = await Shop.of(server())
  clients = await SocketClient.connectAll(shop.url, await shop.sdkKey(), SOCKETS)
})

afterAll(() => {
  for (const client of clients) client.close()
})

it('With many sockets on two workers, the page shows "sent" for all of them within a second of the click', async () => {
  const prepare = shop.owner.giveTo.bind(shop.owner)
  const page = await openPage(browser(), shop.page('flags'), { prepare })
  const cell = page.getByRole('switch', {
    name: flagSwitch.label('Checkout', DEMO.name),
    exact: true,
  })
  const times: number[] = []
  for (const action of [flagSwitch.switchOff, flagSwitch.switchOn, flagSwitch.switchOff]) {
    await cell.click()
    const button = page.getByRole('button', { name: action, exact: true })
    await button.waitFor()
    await page.evaluate(watchFor, flagSwitch.sent(SOCKETS, SOCKETS))
    await button.click()
    times.push(await page.evaluate(() => Reflect.get(window, 'shownAfter')))
    await page.getByRole('button', { name: messages.components.dismiss }).first().click()
  }
  process.stdout.write(
    `${SOCKETS} sockets on two workers: "sent" for all is shown ${times.map(Math.round).join(', ')} ms after the click\n`,
  )
  expect(clients.filter((client) => client.valueOf('checkout-enabled') !== false)).toEqual([])
  if (IS_FULL) expect(Math.max(...times)).toBeLessThanOrEqual(WITHIN_MS)
})

/** Runs in the page: measures the time from the next click until a text is shown. */
function watchFor(text: string): void {
  const shown = new Promise((resolve) => {
    document.addEventListener(
      'pointerdown',
      () => {
        const began = performance.now()
        const check = () => {
          if (document.body.textContent.includes(text)) resolve(performance.now() - began)
          else requestAnimationFrame(check)
        }
        check()
      },
      { once: true, capture: true },
    )
  })
  Reflect.set(window, 'shownAfter', shown)
}
