import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { messages } from '../../../src/messages/messages.ts'
import { openPage, useBrowser } from '../browser.ts'
import { HANDS } from '../driver/hands.ts'
import { Mouse } from '../driver/mouse.ts'
import { useServer } from '../running-server.ts'
import { DEMO, Shop } from '../seed/shop.ts'
import { SocketClient } from '../seed/socket-clients.ts'

const CLIENTS = 12

const server = useServer()
const browser = useBrowser()
const { flagSwitch } = messages
let shop: Shop
let clients: readonly SocketClient[] = []

beforeAll(async () => {
  shop = await Shop.of(server())
  clients = await SocketClient.connectAll(shop.url, await shop.sdkKey(), CLIENTS)
})

afterAll(() => {
  for (const client of clients) client.close()
})

describe('The kill switch of a flag in production', () => {
  it.each(HANDS)('takes two steps, reaches every client, and can be undone, $name', async (use) => {
    const prepare = shop.owner.giveTo.bind(shop.owner)
    const page = await openPage(browser(), shop.page('flags?search=checkout-enabled'), {
      width: use.width,
      prepare,
    })
    const hand = use.handOf(page)
    const before = await shop.version()
    const name = flagSwitch.label('Checkout', DEMO.name)
    const cell = page.getByRole('switch', { name, exact: true })
    await hand.open(cell)
    const dialog = page.getByRole('alertdialog')
    await dialog.getByText('Checkout').first().waitFor()
    await hand.open(dialog.getByRole('button', { name: flagSwitch.switchOff, exact: true }))
    await page.getByText(flagSwitch.sent(CLIENTS, CLIENTS)).waitFor()
    if (hand instanceof Mouse) expect(hand.clicks).toBe(2)
    for (const client of clients) expect(client.valueOf('checkout-enabled')).toBe(false)
    await expect.poll(() => cell.getAttribute('aria-checked')).toBe('false')
    expect(await shop.version()).toBe(before + 1)

    await hand.open(page.getByRole('button', { name: messages.components.undo }))
    await expect.poll(() => cell.getAttribute('aria-checked')).toBe('true')
    await expect
      .poll(() => clients.map((each) => each.valueOf('checkout-enabled')))
      .toEqual(Array.from({ length: CLIENTS }, () => true))
    const { state } = await shop.configuration('checkout-enabled')
    expect(state.is_active).toBe(true)
  })

  it('asks with the focus on the button when switching off, on Cancel when switching on, and returns the focus', async () => {
    const prepare = shop.owner.giveTo.bind(shop.owner)
    const page = await openPage(browser(), shop.page('flags'), { prepare })
    const off = page.getByRole('switch', {
      name: flagSwitch.label('Checkout', DEMO.name),
      exact: true,
    })
    await off.click()
    const confirm = page.getByRole('button', { name: flagSwitch.switchOff, exact: true })
    await expect.poll(() => confirm.evaluate((each) => each === document.activeElement)).toBe(true)
    await page.keyboard.press('Escape')
    await expect.poll(() => off.evaluate((each) => each === document.activeElement)).toBe(true)
    const on = page.getByRole('switch', {
      name: flagSwitch.label('Holiday theme', DEMO.name),
      exact: true,
    })
    await on.click()
    const cancel = page.getByRole('button', { name: messages.components.cancel, exact: true })
    await expect.poll(() => cancel.evaluate((each) => each === document.activeElement)).toBe(true)
    await page.keyboard.press('Escape')
  })
})
