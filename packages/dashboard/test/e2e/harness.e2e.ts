import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ApiSession } from './api-session.ts'
import { axe } from './axe.ts'
import { openPage, useBrowser } from './browser.ts'
import { useServer } from './running-server.ts'
import { shot } from './shot.ts'

const server = useServer()
const browser = useBrowser()

it('axe runs under the policy of the page and finds an image without a text', async () => {
  const page = await openPage(browser(), `${server().url}/dashboard`)
  await page.evaluate(() => document.body.append(new Image(9, 9)))
  expect(await axe(page)).toContainEqual(expect.stringMatching(/^image-alt: .*img/))
})

it('A picture of the page is written to the folder for a review', async () => {
  const file = join(import.meta.dirname, 'pictures', 'a-test-of-pictures.png')
  onTestFinished(() => rmSync(file, { force: true }))
  const page = await openPage(browser(), `${server().url}/dashboard`, { theme: 'dark' })
  await shot(page, 'a-test-of-pictures')
  expect(existsSync(file)).toBe(true)
})

it('A session of the API can be given to a page, which is then logged in', async () => {
  const owner = await ApiSession.ofOwner(server())
  const prepare = owner.giveTo.bind(owner)
  const page = await openPage(browser(), `${server().url}/dashboard`, { width: 'narrow', prepare })
  const status = await page.evaluate(async () => (await fetch('/auth/me')).status)
  expect(status).toBe(200)
})
