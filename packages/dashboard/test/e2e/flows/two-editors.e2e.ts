import { beforeAll, describe, expect, it } from 'vitest'
import { publishing } from '../../../src/messages/en/publishing.ts'
import { messages } from '../../../src/messages/messages.ts'
import { openPage, useBrowser } from '../browser.ts'
import { FlagEditor } from '../driver/flag-editor.ts'
import { HANDS } from '../driver/hands.ts'
import { useServer } from '../running-server.ts'
import { Shop } from '../seed/shop.ts'

const FLAG = 'new-checkout'
const RULE = 'A quarter of customers'

/** What Chromium logs for a publish that is based on an older version. */
const permitted = [/status of 409/]

const server = useServer()
const browser = useBrowser()
const { conflict, convergence } = publishing
let shop: Shop

beforeAll(async () => {
  shop = await Shop.of(server())
})

/** Sets the share of the rollout as another editor does. */
function setShare(percentage: number): Promise<void> {
  return shop.configure(FLAG, (now) => ({
    ...now,
    rollouts: now.rollouts.map((rollout) => ({ ...rollout, percentage })),
  }))
}

/** Lists a user as an individual target as another editor does. */
async function addTarget(key: string): Promise<void> {
  const { variations } = await shop.flag(FLAG)
  const targets = [{ variation_id: variations[0]?.id, kind: 'user', keys: [key] }]
  await shop.configure(FLAG, (now) => ({ ...now, state: { ...now.state, targets } }))
}

async function shareOf(): Promise<number | null | undefined> {
  return (await shop.configuration(FLAG)).rollouts[0]?.percentage
}

describe('Two editors of one flag', () => {
  it.each(HANDS.slice(0, 3))(
    'both keep their changes: the newer version is merged and shown, $name',
    async (use) => {
      await setShare(25)
      const prepare = shop.owner.giveTo.bind(shop.owner)
      const address = shop.page(`flags/${FLAG}?env=live`)
      const page = await openPage(browser(), address, { width: use.width, prepare, permitted })
      const hand = use.handOf(page)
      const editor = new FlagEditor(page, hand)
      await editor.editRule(RULE)
      await editor.setShare(30)
      await editor.bar.waitFor()
      const key = `user ${use.name}`
      await addTarget(key)
      await hand.open(page.getByRole('button', { name: conflict.open, exact: true }))
      const dialog = page.getByRole('dialog', { name: conflict.title })
      await dialog.getByText(key).first().waitFor()
      await hand.open(dialog.getByRole('button', { name: conflict.confirm, exact: true }))
      await editor.publish()
      expect(await shareOf()).toBe(30)
      expect((await shop.configuration(FLAG)).state['targets']).toMatchObject([{ keys: [key] }])
    },
  )

  it('choose between their values where both have changed the same field; nothing is overwritten unseen', async () => {
    await setShare(25)
    const prepare = shop.owner.giveTo.bind(shop.owner)
    const address = shop.page(`flags/${FLAG}?env=live`)
    const page = await openPage(browser(), address, { prepare, permitted })
    const [hands] = HANDS
    const hand = hands.handOf(page)
    const editor = new FlagEditor(page, hand)
    await editor.editRule(RULE)
    await editor.setShare(30)
    await setShare(35)
    await hand.open(page.getByRole('button', { name: conflict.open, exact: true }))
    const dialog = page.getByRole('dialog', { name: conflict.title })
    for (const column of Object.values(conflict.columns)) {
      await dialog.getByText(column, { exact: true }).first().waitFor()
    }
    expect(await shareOf()).toBe(35)
    await dialog
      .getByRole('radio', { name: '30' })
      .or(dialog.getByRole('radio').last())
      .last()
      .check({ force: true })
    await hand.open(dialog.getByRole('button', { name: conflict.confirm, exact: true }))
    await editor.publish()
    expect(await shareOf()).toBe(30)
  })
})

describe('A publish', () => {
  it.each(HANDS)('can be undone from its message, $name', async (use) => {
    await setShare(25)
    const prepare = shop.owner.giveTo.bind(shop.owner)
    const address = shop.page(`flags/${FLAG}?env=live`)
    const page = await openPage(browser(), address, { width: use.width, prepare, permitted })
    const hand = use.handOf(page)
    const editor = new FlagEditor(page, hand)
    await editor.editRule(RULE)
    await editor.setShare(90)
    await editor.publish()
    expect(await shareOf()).toBe(90)
    const version = await shop.version()
    await hand.open(page.getByRole('button', { name: messages.components.undo, exact: true }))
    await expect.poll(shareOf).toBe(25)
    expect(await shop.version()).toBe(version + 1)
    await page.getByRole('region', { name: convergence.region }).waitFor()
  })
})
