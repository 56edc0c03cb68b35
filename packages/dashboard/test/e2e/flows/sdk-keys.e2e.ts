import { beforeAll, expect, it } from 'vitest'
import { messages } from '../../../src/messages/messages.ts'
import { axe } from '../axe.ts'
import { openPage, useBrowser } from '../browser.ts'
import { HANDS } from '../driver/hands.ts'
import { SecretSearch } from '../driver/secret-search.ts'
import { useServer } from '../running-server.ts'
import { Shop } from '../seed/shop.ts'
import { evaluate, users } from '../seed/traffic.ts'

const server = useServer()
const browser = useBrowser()
const { keys: texts, components } = messages
let shop: Shop

beforeAll(async () => {
  shop = await Shop.of(server())
})

it.each(HANDS)('An SDK key is shown once, works, and is rotated, $name', async (use) => {
  const search = new SecretSearch()
  const page = await openPage(browser(), shop.page('settings/keys?env=live'), {
    width: use.width,
    prepare: async (context) => {
      await shop.owner.giveTo(context)
      search.watch(context)
    },
  })
  const hand = use.handOf(page)
  const name = `Web shop ${use.name}`
  await hand.open(page.getByRole('button', { name: texts.create, exact: true }))
  const dialog = page.getByRole('dialog')
  await hand.fill(dialog.getByRole('textbox', { name: texts.name }).first(), name)
  await hand.open(dialog.getByRole('button', { name: texts.createKey, exact: true }))
  await page.getByText(components.secretOnce).waitFor()
  expect(await axe(page, '[role=dialog], [role=alertdialog]')).toEqual([])
  const first = (await page.locator('pre').first().textContent()) ?? ''
  const [user = { key: '' }] = users(1)
  expect(await evaluate(shop.url, first, user)).toHaveProperty('new-checkout')
  await hand.open(page.getByRole('button', { name: texts.close, exact: true }).last())
  await page.getByText(name).first().waitFor()
  expect(await page.getByText(first).count()).toBe(0)

  await hand.open(page.getByRole('button', { name: texts.rotateOf(name), exact: true }))
  await hand.open(page.getByRole('button', { name: texts.rotateKey, exact: true }))
  await page.getByText(components.secretOnce).waitFor()
  const second = (await page.locator('pre').first().textContent()) ?? ''
  expect(second).not.toBe(first)
  await evaluate(shop.url, first, user)
  await evaluate(shop.url, second, user)
  await hand.open(page.getByRole('button', { name: texts.close, exact: true }).last())
  await search.expectNone(page, [first, second, ...shop.owner.secrets], [server().log])
})
