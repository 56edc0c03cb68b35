import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { messages } from '../../../src/messages/messages.ts'
import { openPage, useBrowser } from '../browser.ts'
import { fillCondition } from '../driver/condition-form.ts'
import { FlagEditor } from '../driver/flag-editor.ts'
import { HANDS, type Hand } from '../driver/hands.ts'
import { useServer } from '../running-server.ts'
import { DEMO, Shop } from '../seed/shop.ts'
import { evaluate } from '../seed/traffic.ts'

/** A context that the rule matches: it is in the segment and meets the condition. */
const CUSTOMER = { kind: 'user', key: 'ada', trial: 'yes', country: 'DE' }

/**
 * What Chromium logs if the page checks a draft while it is published: the check is based on the
 * version before, so it is refused.
 */
const permitted = [/status of 409 .*\/configuration\)$/]

const server = useServer()
const browser = useBrowser()
const { segments, flags, newFlag } = messages
let shop: Shop
let sdkKey = ''

beforeAll(async () => {
  shop = await Shop.of(server())
  sdkKey = await shop.sdkKey()
})

/** Creates a segment of the users with a trial. */
async function createSegment(page: Page, hand: Hand, name: string): Promise<void> {
  await page.goto(shop.page('segments'))
  await hand.open(page.getByRole('button', { name: segments.create, exact: true }))
  const dialog = page.getByRole('dialog', { name: segments.create })
  await hand.fill(dialog.getByRole('textbox', { name: segments.name, exact: true }), name)
  await hand.open(dialog.getByRole('button', { name: segments.createSegment, exact: true }))
  await page.getByRole('heading', { level: 1, name }).waitFor()
  const part = page.getByRole('region', { name: segments.conditions })
  await hand.open(part.getByRole('button', { name: segments.addCondition, exact: true }))
  await fillCondition(hand, part, { attribute: 'user.trial', value: 'yes' })
  const bar = page.getByRole('region', { name: segments.bar })
  await hand.open(bar.getByRole('button', { name: segments.review, exact: true }))
  const review = page.getByRole('dialog', { name: segments.reviewTitle(name) })
  await review.getByText('trial').first().waitFor()
  await hand.open(review.getByRole('button', { name: segments.save, exact: true }))
  await page.getByText(segments.saved(name)).waitFor()
}

/** Creates a boolean flag that is on in production. */
async function createFlag(page: Page, hand: Hand, name: string): Promise<void> {
  await page.goto(shop.page('flags'))
  await hand.open(page.getByRole('button', { name: flags.newFlag, exact: true }))
  await hand.fill(page.getByRole('textbox', { name: newFlag.name, exact: true }), name)
  await hand.toggle(page.locator('label').filter({ hasText: DEMO.name }))
  await hand.open(page.getByRole('button', { name: newFlag.create, exact: true }))
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

it.each(HANDS.slice(0, 3))(
  'A new flag with a rule for a new segment serves its variation to this segment only, $name',
  async (use) => {
    const prepare = shop.owner.giveTo.bind(shop.owner)
    const options = { width: use.width, prepare, permitted }
    const page = await openPage(browser(), shop.page('segments'), options)
    const hand = use.handOf(page)
    const segment = `Trials ${use.name}`
    await createSegment(page, hand, segment)
    const name = `Hints ${use.name}`
    const key = name.toLowerCase().replaceAll(' ', '-')
    await createFlag(page, hand, name)
    const serve = async (context: object) =>
      (await evaluate(shop.url, sdkKey, { ...CUSTOMER, ...context }))[key]
    expect(await serve({})).toBe(false)

    const editor = new FlagEditor(page, hand)
    const condition = { attribute: 'user.country', value: 'DE' }
    await editor.addFirstRule({ segment, condition, serves: 'true' })
    const before = await shop.version()
    const review = await editor.review()
    await review.getByText(segment).first().waitFor()
    expect(await serve({})).toBe(false)
    await editor.confirm()
    await editor.published()
    expect(await shop.version()).toBe(before + 1)
    await expect.poll(() => serve({})).toBe(true)
    expect(await serve({ trial: 'no' })).toBe(false)
    expect(await serve({ country: 'FR' })).toBe(false)
  },
)
