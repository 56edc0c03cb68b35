import { beforeAll, beforeEach, expect, it } from 'vitest'
import { targeting } from '../../../src/messages/en/targeting.ts'
import { openPage, useBrowser } from '../browser.ts'
import { FlagEditor } from '../driver/flag-editor.ts'
import { HANDS, type Hand } from '../driver/hands.ts'
import { Mouse } from '../driver/mouse.ts'
import { useServer } from '../running-server.ts'
import { DEMO, Shop } from '../seed/shop.ts'
import { evaluate } from '../seed/traffic.ts'

const FLAG = 'support-channel'
const { rules } = targeting
/** A rule that is the last one at first. */
const MOVED = 'Paid plans'
/** A customer that two rules match. The first of them decides. */
const CUSTOMER = { kind: 'user', key: 'ada', plan: 'enterprise' }

const server = useServer()
const browser = useBrowser()
let shop: Shop
let sdkKey = ''
let order: readonly string[] = []

beforeAll(async () => {
  shop = await Shop.of(server())
  sdkKey = await shop.sdkKey()
  await shop.send('POST', `/envs/${DEMO.production}/flags/${FLAG}/targeting-rules`, {
    ...{ name: MOVED, variation_id: 'chat', order_index: 2 },
    conditions: [{ attribute: 'plan', operator: 'in', value: '["pro","enterprise"]' }],
  })
  order = await names()
})

beforeEach(async () => {
  const place = ({ name }: { readonly name: string }) => order.indexOf(name)
  await shop.configure(FLAG, (now) => ({
    ...now,
    targeting_rules: now.targeting_rules.toSorted((one, other) => place(one) - place(other)),
  }))
})

/** Returns the names of the published rules in their order. */
async function names(): Promise<readonly string[]> {
  return (await shop.configuration(FLAG)).targeting_rules.map(({ name }) => name)
}

/** Returns what the customer of two rules receives. */
async function served(): Promise<unknown> {
  return (await evaluate(shop.url, sdkKey, CUSTOMER))[FLAG]
}

/** Moves the last of three rules to the front: by dragging, with keys, or with the menu. */
async function moveToFront(editor: FlagEditor, hand: Hand, isWide: boolean): Promise<void> {
  const [first = ''] = order
  if (!isWide) {
    await editor.moveRule(MOVED, 1)
  } else if (hand instanceof Mouse) {
    await hand.dragAbove(editor.rule(MOVED), editor.rule(first))
  } else {
    await hand.enterRow(editor.rules, editor.rule(MOVED))
    await hand.press('Alt+ArrowUp')
    await editor.page.getByText(rules.moved(MOVED, 1)).waitFor()
    await hand.press('Alt+ArrowUp')
  }
}

it.each(HANDS)('A rule that is moved to the front is evaluated first, $name', async (use) => {
  expect(order).toHaveLength(3)
  expect(order.at(-1)).toBe(MOVED)
  await expect.poll(served).toBe('phone')
  const prepare = shop.owner.giveTo.bind(shop.owner)
  const address = shop.page(`flags/${FLAG}?env=live`)
  const page = await openPage(browser(), address, { width: use.width, prepare })
  const hand = use.handOf(page)
  const editor = new FlagEditor(page, hand)
  await editor.rule(MOVED).waitFor()
  await moveToFront(editor, hand, use.width === 'wide')
  await page.getByText(rules.moved(MOVED, 0)).waitFor()
  const rows = await editor.rules.getByRole('row').allTextContents()
  expect(rows.map((text) => text.includes(MOVED))).toEqual([true, false, false])
  expect(await names()).toEqual(order)

  const before = await shop.version()
  await editor.publish()
  expect(await shop.version()).toBe(before + 1)
  expect(await names()).toEqual([MOVED, ...order.slice(0, -1)])
  await expect.poll(served).toBe('chat')
})
