import { beforeAll, describe, expect, it } from 'vitest'
import { publishing } from '../../../src/messages/en/publishing.ts'
import { messages } from '../../../src/messages/messages.ts'
import { ApiSession, PASSWORD } from '../api-session.ts'
import { openPage, type PageOptions, useBrowser } from '../browser.ts'
import { FlagEditor } from '../driver/flag-editor.ts'
import { HANDS, type Hand } from '../driver/hands.ts'
import { Mouse } from '../driver/mouse.ts'
import { useServer } from '../running-server.ts'
import { Shop } from '../seed/shop.ts'

const FLAG = 'new-checkout'
const RULE = 'A quarter of customers'
const { session: texts } = messages
/** What Chromium logs for the refusals that these tests provoke. */
const permitted = [/status of 40[1349]/]

const server = useServer()
const browser = useBrowser()
let shop: Shop
let count = 0

beforeAll(async () => {
  shop = await Shop.of(server())
})

/** Opens the flag as a new member, with a draft. */
async function draftOf(role: 'editor' | 'admin', share: number, options: PageOptions = {}) {
  count += 1
  const member = await shop.member(role, `member-${count}@shop.example`)
  const prepare = member.session.giveTo.bind(member.session)
  const address = shop.page(`flags/${FLAG}?env=live`)
  const page = await openPage(browser(), address, { ...options, prepare, permitted })
  const editor = new FlagEditor(page, new Mouse(page))
  await editor.editRule(RULE)
  await editor.setShare(share)
  await editor.bar.waitFor()
  return { ...member, page, editor }
}

const share = async () => (await shop.configuration(FLAG)).rollouts[0]?.percentage

describe('A session that ends', () => {
  it.each(HANDS)(
    'in the middle of a draft asks for a new log-in, and the draft is published afterwards, $name',
    async (use) => {
      const next = ((await share()) ?? 0) + 1
      const { page, session } = await draftOf('editor', next, { width: use.width })
      await session.get('POST', '/auth/logout', { body: {} })
      const hand: Hand = use.handOf(page)
      const editor = new FlagEditor(page, hand)
      await editor.review()
      // The check of the draft is refused.
      const again = page.getByRole('dialog', { name: texts.again })
      await hand.fill(again.getByLabel(texts.password, { exact: true }), PASSWORD)
      await hand.open(again.getByRole('button', { name: texts.logIn, exact: true }))
      await again.waitFor({ state: 'hidden' })
      await editor.confirm()
      await page.getByRole('region', { name: publishing.convergence.region }).waitFor()
      expect(await share()).toBe(next)
    },
  )
})

it('After a role is taken away, a draft is refused with the reason and kept', async () => {
  const before = await share()
  const { page, editor, userId } = await draftOf('editor', 66)
  await shop.changeRole(userId, 'viewer')
  await editor.review()
  await editor.confirm()
  await page.getByRole('alert').first().waitFor()
  expect(await share()).toBe(before)
  await page.reload()
  await editor.bar.waitFor()
})

it('A viewer sees why switches are disabled, and cannot change anything', async () => {
  const { session } = await shop.member('viewer')
  const prepare = session.giveTo.bind(session)
  const page = await openPage(browser(), shop.page('flags'), { prepare, permitted })
  const before = await shop.version()
  const cell = page.getByRole('switch').first()
  expect(await cell.getAttribute('aria-disabled')).toBe('true')
  expect(await cell.getAttribute('title')).toMatch(/^Your role does not permit this/)
  await cell.click({ force: true })
  expect(await page.getByRole('alertdialog').count()).toBe(0)
  expect(await shop.version()).toBe(before)
})

it.each(['new-flag', 'settings/keys'])(
  'A viewer who types the address of %s reads why nothing can be created there',
  async (path) => {
    const session = await ApiSession.logIn(shop.url, 'viewer@shop.example')
    const prepare = session.giveTo.bind(session)
    const page = await openPage(browser(), shop.page(path), { prepare, permitted })
    await page.getByRole('heading', { level: 1 }).waitFor()
    const roles = path === 'new-flag' ? 'editor' : 'admin'
    const reason = page.getByText(/Your role does not permit this/).first()
    const button = page
      .locator('[title*="Your role"], [aria-disabled=true], button:disabled')
      .first()
    await reason.or(button).first().waitFor()
    expect(roles).not.toBe('')
  },
)

it('The cookie of another organization shows that the project does not exist, and none of its names', async () => {
  const { id } = await shop.owner.get<{ id: string }>('GET', '/projects/shop')
  const other = await createOtherOwner()
  const prepare = other.giveTo.bind(other)
  const address = `${shop.url}/dashboard/p/${id}/flags`
  const page = await openPage(browser(), address, { prepare, permitted })
  await page.getByText(messages.errors.notFound).first().waitFor()
  expect(await page.getByText('Checkout').count()).toBe(0)
})

/** Creates a second organization with an owner. */
async function createOtherOwner(): Promise<ApiSession> {
  const token = /Administrator's token[^\n]*\n\s+(\S+)/.exec(server().output)?.[1] ?? ''
  const send = async <Data>(path: string, body: object) => {
    const response = await fetch(shop.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return ((await response.json()) as { data: Data }).data
  }
  const { id } = await send<{ id: string }>('/organizations', { name: 'Another shop' })
  const { one_time_link } = await send<{ one_time_link: string }>(`/organizations/${id}/members`, {
    email: 'owner@another.example',
    role: 'owner',
  })
  return ApiSession.accept(shop.url, one_time_link.replace(/^.*#/, ''))
}
