import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { gone } from '../../../src/messages/en/errors.ts'
import { messages } from '../../../src/messages/messages.ts'
import { PATHS } from '../../../src/routes.tsx'
import { openPage, useBrowser } from '../browser.ts'
import { FlagEditor } from '../driver/flag-editor.ts'
import { HANDS } from '../driver/hands.ts'
import { settled } from '../driver/layout.ts'
import { useServer } from '../running-server.ts'
import { Shop } from '../seed/shop.ts'

/**
 * What Chromium logs for what does not exist. A list of flags that is read again for an environment
 * that was just deleted is refused with 400.
 */
const permitted = [/status of 404/, /status of 400 .*flag-summaries\?.*env_id=/]
const UNKNOWN = '99999999-9999-4999-8999-999999999999'

const server = useServer()
const browser = useBrowser()
let shop: Shop
let admin: Awaited<ReturnType<Shop['member']>>['session']

beforeAll(async () => {
  shop = await Shop.of(server())
  admin = (await shop.member('admin', 'grace@shop.example')).session
})

const open = (address: string) =>
  openPage(browser(), address, { prepare: shop.owner.giveTo.bind(shop.owner), permitted })

const send = <Data>(method: string, path: string, body?: object) =>
  admin.get<Data>(method, `/projects/${shop.project}${path}`, body ? { body } : {})

/** The controls of the content that change something, or choose what is changed. */
const CONTROLS =
  'main :is(input, textarea, select, [role="switch"], [role="tab"], [role="combobox"])'

/** Expects that the page shows no control of another object. */
async function expectNoControls(page: Page): Promise<void> {
  expect(await page.locator(CONTROLS).count(), 'controls').toBe(0)
}

/** The paths of pages within a project, with the parameters that name what does not exist. */
const PAGES = Object.entries(PATHS).filter(([, path]) => path.includes('$project'))

describe('An address of what does not exist', () => {
  const values = { project: '', flag: 'new-checkout', segment: 'early-adopters' }
  const cases = PAGES.flatMap(([name, path]) => {
    const parameters = [...path.matchAll(/\$(\w+)/g)].map(([, parameter = '']) => parameter)
    return parameters.map((parameter) => [name, parameter, path] as const)
  })

  it.each(cases)('The page "%s" with an unknown %s has no controls', async (_, unknown, path) => {
    const known: Record<string, string> = { ...values, project: shop.project }
    const filled = path.replace(/\$(\w+)/g, (_all, parameter: string) => {
      return parameter === unknown ? UNKNOWN : (known[parameter] ?? '')
    })
    const page = await open(`${shop.url}/dashboard${filled}`)
    await settled(page)
    await expectNoControls(page)
  })

  const withEnvironment = ['flags', 'flag', 'playground', 'history', 'keys'] as const
  it.each(
    withEnvironment.flatMap((name) => ['gone', '1.0', 'true'].map((env) => [name, env] as const)),
  )(
    'The page "%s" says that the environment "%s" does not exist, and links to the others',
    async (name, env) => {
      const path = PATHS[name].replace('$project', shop.project).replace('$flag', 'new-checkout')
      const page = await open(`${shop.url}/dashboard${path}?env=${env}`)
      await page.getByRole('heading', { level: 1, name: gone.environment(env) }).waitFor()
      await expectNoControls(page)
      const links = page.getByRole('navigation', { name: gone.environments }).getByRole('link')
      expect(await links.count()).toBeGreaterThan(1)
      await links.first().click()
      await page
        .getByRole('heading', { level: 1, name: gone.environment(env) })
        .waitFor({ state: 'detached' })
    },
  )
})

describe('What a colleague deletes while it is open', () => {
  it('An environment: the page names who has deleted it, and keeps the draft until its author discards it', async () => {
    const env = await send<{ id: string }>('POST', '/envs', {
      key: 'trial',
      name: 'Trial',
      copy_from: 'live',
    })
    const page = await open(shop.page('flags/new-checkout?env=trial'))
    const [use] = HANDS
    if (use === undefined) throw new Error('There is no hand.')
    const editor = new FlagEditor(page, use.handOf(page))
    await editor.editRule('A quarter of customers')
    await editor.setShare(31)
    await editor.bar.waitFor()
    const paths = ['flags', 'history', 'playground', 'settings/keys']
    const others = await Promise.all(paths.map((path) => open(shop.page(`${path}?env=trial`))))
    for (const each of others) await settled(each)
    await send('DELETE', `/envs/${env.id}`)
    for (const each of others) {
      await each.getByRole('heading', { level: 1, name: gone.environment('trial') }).waitFor()
      await expectNoControls(each)
    }
    await page.getByRole('heading', { level: 1, name: gone.environment('trial') }).waitFor()
    await page.getByText(gone.deletedBy('The admin')).waitFor()
    await expectNoControls(page)
    await page.getByText(gone.draft).waitFor()
    page.on('dialog', (dialog) => void dialog.accept())
    await page.reload()
    await page.getByRole('button', { name: gone.discard }).click()
    await page.getByText(gone.draft).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Live', exact: true }).click()
    await page.getByRole('tab', { name: 'Live' }).waitFor()
  })

  it('The default environment: a page whose address names none stays with the one that it shows', async () => {
    const body = { key: 'other', name: 'Other' }
    const { id } = await send<{ id: string }>('POST', '/envs', body)
    const pages = ['history', 'settings/keys', 'playground', 'flags/new-checkout']
    const opened = await Promise.all(pages.map((path) => open(shop.page(path))))
    for (const page of opened) {
      await page.waitForURL(/[?&]env=live\b/)
      await settled(page)
    }
    await send('PUT', `/envs/${id}`, { is_default: true, is_production: true })
    for (const page of opened) {
      await page.reload()
      await settled(page)
      expect(new URL(page.url()).searchParams.get('env')).toBe('live')
    }
    await send('PUT', '/envs/live', { is_default: true })
    await send('DELETE', `/envs/${id}`)
  })

  it('A project: its pages have no controls any more', async () => {
    const path = `/organizations/${shop.organization}/projects`
    const body = { key: 'short-lived', name: 'Short' }
    const project = await admin.get<{ id: string }>('POST', path, { body })
    const pages = ['flags', 'segments', 'new-flag', 'playground', 'history', 'settings/keys']
    const opened = await Promise.all(
      pages.map((each) => open(`${shop.url}/dashboard/p/${project.id}/${each}`)),
    )
    for (const page of opened) await settled(page)
    await admin.get('DELETE', `/projects/${project.id}`)
    const titles = [gone.project, messages.errors.notFoundTitle]
    for (const page of opened) {
      const title = page.getByRole('heading', { level: 1 }).filter({ hasText: titles[0] ?? '' })
      await title.or(page.getByRole('heading', { level: 1, name: titles[1] ?? '' })).waitFor()
      await expectNoControls(page)
    }
  })

  it('A flag and a segment: the page names who has deleted them', async () => {
    const flag = await send<{ id: string }>('POST', '/flags', {
      key: 'new',
      name: 'Key new',
      type: 'boolean',
    })
    const segment = await send<{ id: string }>('POST', '/segments', {
      key: 'short-lived',
      name: 'Short',
    })
    const flagPage = await open(shop.page('flags/new?env=live'))
    await flagPage.getByRole('heading', { level: 1, name: 'Key new' }).waitFor()
    const segmentPage = await open(shop.page('segments/short-lived'))
    await segmentPage.getByRole('heading', { level: 1, name: 'Short' }).waitFor()
    await send('DELETE', `/flags/${flag.id}`)
    await send('DELETE', `/segments/${segment.id}`)
    await flagPage.getByRole('heading', { level: 1, name: gone.flag('Key new') }).waitFor()
    await flagPage.getByText(gone.deletedBy('The admin')).waitFor()
    await expectNoControls(flagPage)
    await segmentPage.getByRole('heading', { level: 1, name: gone.segment('Short') }).waitFor()
    await segmentPage.getByText(gone.deletedBy('The admin')).waitFor()
    await expectNoControls(segmentPage)
  })
})
