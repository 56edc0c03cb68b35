import { beforeAll, expect, it } from 'vitest'
import { messages } from '../../../src/messages/messages.ts'
import { openPage, useBrowser } from '../browser.ts'
import { FlagEditor } from '../driver/flag-editor.ts'
import { HANDS } from '../driver/hands.ts'
import { settled } from '../driver/layout.ts'
import { useServer } from '../running-server.ts'
import { Shop } from '../seed/shop.ts'

const server = useServer()
const browser = useBrowser()
const { components, newFlag, playground } = messages
let shop: Shop

beforeAll(async () => {
  shop = await Shop.of(server())
})

const open = (path: string) => {
  return openPage(browser(), shop.page(path), { prepare: shop.owner.giveTo.bind(shop.owner) })
}

it('In the repeated hour, editing the minutes stays in it, and both hours can be chosen', async () => {
  // The windows of the tests are in Europe/Berlin, where 02:30 occurs twice on this day.
  const page = await open('playground?env=live&at=2026-10-25T01:30:00.000Z')
  const at = () => new URL(page.url()).searchParams.get('at')
  const field = page.getByLabel(playground.time, { exact: true })
  await expect.poll(() => field.inputValue()).toBe('2026-10-25T02:30')
  await field.fill('2026-10-25T02:45')
  await expect.poll(at).toBe('2026-10-25T01:45:00.000Z')
  await page.getByRole('button', { name: components.repeatedHour }).click()
  await page.getByRole('option').first().click()
  await expect.poll(at).toBe('2026-10-25T00:45:00.000Z')
  await field.fill('2026-10-25T02:50')
  await expect.poll(at).toBe('2026-10-25T00:50:00.000Z')
})

it('The form of a new flag survives a link, going back and a reload, and Format changes only white space', async () => {
  const page = await open('new-flag')
  const name = page.getByRole('textbox', { name: newFlag.name, exact: true })
  await name.fill('Limits')
  await page.getByRole('button', { name: newFlag.type }).click()
  await page.getByRole('option', { name: messages.flags.types.json }).click()
  const value = page.getByRole('textbox').filter({ hasText: '{}' }).first()
  const typed = '{"id":9007199254740993,"b":1.10,"a":1,"a":2}'
  await value.fill(typed)
  await page.getByRole('link', { name: messages.shell.segments }).click()
  await page.getByRole('heading', { level: 1, name: messages.shell.segments }).waitFor()
  await page.goBack()
  page.on('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await expect.poll(() => name.inputValue()).toBe('Limits')
  const texts = async () =>
    Promise.all((await page.locator('textarea').all()).map((each) => each.inputValue()))
  expect(await texts()).toContain(typed)
  await page.getByRole('button', { name: newFlag.json.format }).first().click()
  const formatted = (await texts()).find((each) => each.includes('9007199254740993')) ?? ''
  expect(formatted.replace(/\s/g, '')).toBe(typed)
  expect(formatted).toContain('\n')
})

it('A duplicated tab does not offer a change that the other tab has published', async () => {
  const page = await open('flags/new-checkout?env=live')
  const [use] = HANDS
  if (use === undefined) throw new Error('There is no hand.')
  const editor = new FlagEditor(page, use.handOf(page))
  await editor.editRule('A quarter of customers')
  await editor.setShare(33)
  await editor.bar.waitFor()
  // A browser copies the session storage of a tab that is duplicated.
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage }))
  await editor.publish()
  const other = await page.context().newPage()
  await other.addInitScript((text) => {
    for (const [key, value] of Object.entries(JSON.parse(text))) {
      sessionStorage.setItem(key, String(value))
    }
  }, stored)
  await other.goto(shop.page('flags/new-checkout?env=live'))
  await other.getByText('A quarter of customers').first().waitFor()
  await settled(other)
  expect(await new FlagEditor(other, use.handOf(other)).bar.count()).toBe(0)
})
