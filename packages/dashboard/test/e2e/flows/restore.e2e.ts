import { beforeAll, expect, it } from 'vitest'
import { messages } from '../../../src/messages/messages.ts'
import { openPage, useBrowser } from '../browser.ts'
import { HANDS } from '../driver/hands.ts'
import { useServer } from '../running-server.ts'
import { DEMO, Shop } from '../seed/shop.ts'
import { evaluate } from '../seed/traffic.ts'

const FLAG = 'support-channel'
/** A customer that no rule matches. */
const CUSTOMER = { kind: 'user', key: 'ada' }

const server = useServer()
const browser = useBrowser()
const { history, components } = messages
const { restore } = history
let shop: Shop
let sdkKey = ''

beforeAll(async () => {
  shop = await Shop.of(server())
  sdkKey = await shop.sdkKey()
})

/** Publishes another default variation of the flag. Returns the new version. */
async function publishDefault(key: string): Promise<number> {
  const { variations } = await shop.flag(FLAG)
  const id = variations.find((variation) => variation.key === key)?.id ?? null
  await shop.configure(FLAG, (now) => ({
    ...now,
    state: { ...now.state, default_variation_id: id },
  }))
  return shop.version()
}

/** Returns what a customer without a matching rule receives. */
async function served(): Promise<unknown> {
  return (await evaluate(shop.url, sdkKey, CUSTOMER))[FLAG]
}

it.each(HANDS.slice(0, 3))(
  'A version that is restored in the history is served as a new version, after its changes are shown, $name',
  async (use) => {
    const older = await publishDefault('chat')
    const newer = await publishDefault('phone')
    expect(newer).toBe(older + 1)
    await expect.poll(served).toBe('phone')
    const prepare = shop.owner.giveTo.bind(shop.owner)
    const address = shop.page('history?env=live')
    const page = await openPage(browser(), address, { width: use.width, prepare })
    const hand = use.handOf(page)
    const item = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name: history.version(older), exact: true }) })
    await hand.open(item.getByRole('button', { name: restore.button, exact: true }))

    const dialog = page.getByRole('dialog', { name: restore.title(older) })
    const changes = dialog.getByRole('listitem').filter({ hasText: 'Default variation' })
    await changes.waitFor()
    expect(await changes.textContent()).toMatch(/phone.*chat/)
    await dialog.getByText(history.changes.flag(FLAG)).waitFor()
    await dialog.getByText(restore.skippedNone).waitFor()
    await hand.open(dialog.getByRole('button', { name: components.cancel, exact: true }))
    await dialog.waitFor({ state: 'hidden' })
    expect([await shop.version(), await served()]).toEqual([newer, 'phone'])

    await hand.open(item.getByRole('button', { name: restore.button, exact: true }))
    const confirm = restore.confirm(older, DEMO.name)
    await hand.open(dialog.getByRole('button', { name: confirm, exact: true }))
    await page.getByText(restore.done(older)).waitFor()
    expect(await shop.version()).toBe(newer + 1)
    await expect.poll(served).toBe('chat')
    const newest = page.getByRole('listitem').filter({ hasText: history.version(newer + 1) })
    await newest.getByText(history.event('environment.restored')).waitFor()
  },
)
