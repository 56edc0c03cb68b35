import { beforeAll, describe, expect, it } from 'vitest'
import { messages } from '../../../src/messages/messages.ts'
import { axe } from '../axe.ts'
import { openPage, useBrowser } from '../browser.ts'
import { HANDS } from '../driver/hands.ts'
import { overflowOf } from '../driver/layout.ts'
import { SecretSearch } from '../driver/secret-search.ts'
import { useServer } from '../running-server.ts'
import { Shop } from '../seed/shop.ts'
import { evaluate } from '../seed/traffic.ts'

const FLAG = 'support-channel'

const server = useServer()
const browser = useBrowser()
const { playground: texts } = messages
let shop: Shop

beforeAll(async () => {
  shop = await Shop.of(server())
})

describe('The playground', () => {
  it('is opened by a link of a flag, with the explanation of this flag in the same environment', async () => {
    const prepare = shop.owner.giveTo.bind(shop.owner)
    const page = await openPage(browser(), shop.page(`flags/${FLAG}?env=staging`), { prepare })
    await page.getByRole('link', { name: messages.flag.tryOut }).click()
    await page.getByRole('region', { name: texts.why(FLAG) }).waitFor()
    expect(new URL(page.url()).searchParams.get('env')).toBe('staging')
  })

  it.each(HANDS)('shows what user-42 gets, and why, $name', async (use) => {
    const search = new SecretSearch()
    const page = await openPage(browser(), shop.page('playground?env=live'), {
      width: use.width,
      prepare: async (context) => {
        await shop.owner.giveTo(context)
        search.watch(context)
      },
    })
    const hand = use.handOf(page)
    await hand.fill(page.getByRole('textbox', { name: texts.key, exact: true }), 'user-42')
    await hand.open(page.getByRole('button', { name: texts.addAttribute }))
    await hand.fill(page.getByRole('textbox', { name: texts.attribute, exact: true }), 'plan')
    await hand.fill(page.getByRole('textbox', { name: texts.value, exact: true }), 'enterprise')
    const row = page.getByRole('button', { name: new RegExp(`^${FLAG}`) })
    await row.filter({ hasText: 'phone' }).waitFor()
    await hand.open(row)
    const why = page.getByRole('region', { name: texts.why(FLAG) })
    await why.getByText('plan').first().waitFor()
    expect(await axe(page)).toEqual([])
    expect(await overflowOf(page)).toBe(0)
    const values = await evaluate(shop.url, await shop.sdkKey(), {
      kind: 'user',
      key: 'user-42',
      plan: 'enterprise',
    })
    expect(values[FLAG]).toBe('phone')
    // The attributes of a context are in no address and no storage; the opened flag is.
    expect(page.url()).toContain(FLAG)
    await search.expectNone(page, ['user-42', 'enterprise'], [server().log])
  })
})
