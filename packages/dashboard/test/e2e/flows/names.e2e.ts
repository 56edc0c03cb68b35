import type { Response } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { messages } from '../../../src/messages/messages.ts'
import { openPage, useBrowser, type Width } from '../browser.ts'
import { overflowOf, settled } from '../driver/layout.ts'
import { useServer } from '../running-server.ts'
import { Shop } from '../seed/shop.ts'

const HTML = '<img src=x onerror=alert(1)>'
const LONG = `A long name ${'without spaces'.replaceAll(' ', '-').repeat(15)}`.slice(0, 256)
const EMOJI = '👩‍👩‍👧‍👦 عربي 🏴‍☠️'
const NAMES = { hostile: HTML, proto: '__proto__', emoji: EMOJI, long: LONG } as const
const VALUE = 'x'.repeat(65_536)

const server = useServer()
const browser = useBrowser()
let shop: Shop

beforeAll(async () => {
  shop = await Shop.of(server())
  for (const [key, name] of Object.entries(NAMES)) {
    const variations = [
      { key: 'first', name, value: `${HTML} \u202Eevil`, is_default: true },
      { key: 'constructor', name: LONG, value: VALUE },
    ]
    const description = `${name} \u202E${HTML}`
    const flag = { key: `name-${key}`, name, description, type: 'string', variations, tags: [HTML] }
    await shop.send('POST', '/flags', flag)
    const rules = [
      { attribute: `user.${key}`, operator: 'in', value: JSON.stringify([name, HTML]) },
    ]
    await shop.send('POST', '/segments', { key: `segment-${key}`, name, description, rules })
  }
  await shop.send('POST', '/envs/live/flags/name-hostile/targeting-rules', {
    name: HTML,
    conditions: [{ attribute: '__proto__', operator: 'eq', value: HTML }],
    variation_id: 'constructor',
  })
})

const PAGES = [
  'flags?search=name-',
  'flags/name-hostile?env=live',
  'flags/name-hostile?env=live&tab=variations',
  'flags/name-hostile?env=live&tab=history',
  'flags/name-hostile?env=live&tab=settings',
  'flags/name-long?env=live',
  'segments',
  'segments/segment-hostile',
  'history?env=live',
]

it.each(['wide', 'narrow'] as const satisfies readonly Width[])(
  'Names with HTML, right-to-left marks, emoji and 65,536 characters are shown as text on every page, and the layout stays intact (%s)',
  async (width) => {
    const prepare = shop.owner.giveTo.bind(shop.owner)
    const page = await openPage(browser(), shop.page('flags'), { width, prepare })
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    for (const path of PAGES) {
      await page.goto(shop.page(path))
      await settled(page)
      expect(await overflowOf(page), `pixels beyond the window on ${path}`).toBe(0)
      expect(await page.locator('img[src="x"]').count(), path).toBe(0)
    }
    await page.goto(shop.page('flags?search=name-'))
    await page.getByText(HTML, { exact: true }).first().waitFor()
    expect(dialogs).toEqual([])
  },
)

it('A context with hostile keys, attributes and values is evaluated, or refused with its fault, and shown as text', async () => {
  const prepare = shop.owner.giveTo.bind(shop.owner)
  const address = shop.page('playground?env=live')
  const permitted = [/status of 400 .*\/evaluate\)$/]
  const page = await openPage(browser(), address, { width: 'narrow', prepare, permitted })
  const { playground: texts } = messages
  await page.getByRole('tab', { name: texts.json, exact: true }).click()
  const field = page.getByRole('textbox', { name: texts.json, exact: true })
  const fields = `"key": ${JSON.stringify(HTML)}, "long": "${'y'.repeat(2000)}", "rtl": "\u202E"`
  await field.fill(`{"kind": "user", "__proto__": ${JSON.stringify(HTML)}, ${fields}}`)
  await page.getByText(texts.refused).waitFor()
  await page.getByRole('listitem').filter({ hasText: '__proto__' }).waitFor()
  expect(await overflowOf(page)).toBe(0)
  const evaluated = page.waitForResponse((response) => response.ok() && isEvaluation(response))
  await field.fill(`{"kind": "user", ${fields}}`)
  await evaluated
  const row = page.getByRole('button', { name: /^name-hostile/ })
  await row.click()
  await page.getByRole('region', { name: texts.why('name-hostile') }).waitFor()
  expect(await overflowOf(page)).toBe(0)
  expect(await page.locator('img[src="x"]').count()).toBe(0)
})

function isEvaluation(response: Response): boolean {
  return new URL(response.url()).pathname.endsWith('/evaluate')
}
