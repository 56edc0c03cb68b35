import { beforeAll, expect, it } from 'vitest'
import { messages } from '../../../src/messages/messages.ts'
import { ApiSession, PASSWORD } from '../api-session.ts'
import { openPage, useBrowser } from '../browser.ts'
import { settled } from '../driver/layout.ts'
import { SecretSearch } from '../driver/secret-search.ts'
import { useServer } from '../running-server.ts'

const server = useServer()
const browser = useBrowser()
const OWNER = 'owner@shop.example'
let link = ''

beforeAll(() => {
  link = server().link ?? ''
})

it('The printed link asks for one password and leads to the flags; no secret is in an address, the storage or the log', async () => {
  const search = new SecretSearch()
  const page = await openPage(browser(), `${server().url}/dashboard/login`, {
    prepare: async (context) => search.watch(context),
  })
  await page.goto(server().firstAddress)
  await page.getByLabel(messages.session.newPassword, { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: messages.session.accept, exact: true }).click()
  await page.getByRole('switch').first().waitFor()
  expect(page.url()).not.toContain('ffl_')
  for (const name of [messages.shell.segments, messages.shell.playground, messages.shell.sdkKeys]) {
    await page.getByRole('link', { name, exact: true }).click()
    await settled(page)
  }
  const cookies = await page.context().cookies()
  const session = cookies.find(({ name }) => name === 'ff_session')?.value ?? ''
  const token = await page.evaluate(async () => {
    const { data } = await (await fetch('/auth/me')).json()
    return data.csrf_token as string
  })
  await search.expectNone(page, [PASSWORD, session, token], [server().log, server().output])
  // The link is in the address that was opened, and nowhere else.
  await search.expectNone(page, [link], [server().log])
})

it('The search for secrets finds a secret in an address, in the storage and in the log', async () => {
  const search = new SecretSearch()
  const page = await openPage(browser(), `${server().url}/dashboard`, {
    permitted: [/./],
    prepare: async (context) => search.watch(context),
  })
  await search.expectNone(page, ['a-secret-in-an-address', 'a-secret-in-the-storage'])
  await page.evaluate(() => fetch('/dashboard?token=a-secret-in-an-address'))
  await page.evaluate(() => localStorage.setItem('x', 'a-secret-in-the-storage'))
  for (const secret of ['a-secret-in-an-address', 'a-secret-in-the-storage']) {
    await expect(search.expectNone(page, [secret])).rejects.toThrow(secret)
  }
  await expect(search.expectNone(page, ['in-the-log'], ['x in-the-log y'])).rejects.toThrow()
})

it('The owner logs in with the password, and logs out', async () => {
  const page = await openPage(browser(), `${server().url}/`, { width: 'narrow' })
  await page.getByLabel(messages.session.email).fill(OWNER)
  await page.getByLabel(messages.session.password, { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: messages.session.logIn, exact: true }).click()
  await page.getByRole('heading', { level: 1, name: messages.flags.title }).waitFor()
  expect((await ApiSession.logIn(server().url, OWNER)).secrets[0]).not.toBe('')
})
