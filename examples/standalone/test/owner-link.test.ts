import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sqlite } from '@ff/storage/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { dataFileOf } from '../src/data-folder/data-folder.ts'
import { RunningStandalone } from './running-standalone.ts'

const PASSWORD = 'a password for the owner'
const LINK = /ffl_[0-9a-f]{64}/
const LINE = /^curl .*\/auth\/password .*$/m

interface Started {
  readonly standalone: RunningStandalone
  readonly url: string
  readonly link: string | undefined
}

function newDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ff-owner-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'data')
}

async function start(dataDir = newDataDir(), env: Record<string, string> = {}): Promise<Started> {
  const standalone = new RunningStandalone(env, dataDir)
  onTestFinished(() => standalone.kill())
  const url = await standalone.listening()
  // The introduction is written at once, and the URL is at its beginning.
  await expect.poll(() => standalone.output).toContain('API documentation')
  return { standalone, url, link: LINK.exec(standalone.output)?.[0] }
}

async function redeem(url: string, token: unknown): Promise<number> {
  const answer = await fetch(`${url}/auth/password`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, new_password: PASSWORD }),
  })
  return answer.status
}

/** Runs a command line. Returns the headers and the body of the response. */
async function runLine(line: string): Promise<{ head: string; body: { statusCode: number } }> {
  const { stdout } = await promisify(execFile)('bash', ['-c', `${line} -D -`])
  const [head = '', body = ''] = stdout.split('\r\n\r\n')
  return { head, body: JSON.parse(body) }
}

it.each(['1', '2'])(
  'A first start in %s process(es) prints an address of the dashboard with the link, and `/` leads to the dashboard',
  async (workers) => {
    const dataDir = newDataDir()
    const { standalone, url, link } = await start(dataDir, { FF_WORKERS: workers })
    const lines = standalone.output.split('\n').filter((line) => LINK.test(line))
    expect(lines).toEqual([`    ${link}`, `  Dashboard: ${url}/dashboard/accept#${link}`])
    expect(standalone.output).not.toContain('auth/password')
    const page = await fetch(url)
    expect(page.url).toBe(`${url}/dashboard`)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await redeem(url, link)).toBe(200)

    standalone.stop('SIGTERM')
    await standalone.ended
    const next = await start(dataDir, { FF_WORKERS: workers })
    expect(next.standalone.output).toContain(`\n  Dashboard: ${next.url}/dashboard\n`)
  },
)

it('With FF_DASHBOARD=0, the curl line of the first start sets one password and opens a session as the owner, once', async () => {
  const { standalone, url } = await start(newDataDir(), { FF_DASHBOARD: '0' })
  expect(standalone.output).not.toContain('Dashboard:')
  expect((await fetch(`${url}/dashboard`)).status).toBe(404)
  expect((await fetch(url)).url).toBe(`${url}/docs`)
  const lines = standalone.output.split('\n').filter((line) => LINK.test(line))
  expect(lines).toEqual([expect.stringMatching(/^ +ffl_\w+$/), expect.stringMatching(LINE)])
  const line = LINE.exec(standalone.output)?.[0] ?? ''

  expect((await runLine(line)).body).toMatchObject({
    statusCode: 400,
    message: 'new_password: must have 12 to 256 characters',
  })
  const { head, body } = await runLine(line.replace('…', PASSWORD))
  expect(body).toMatchObject({ statusCode: 200, data: null })
  const cookie = /^Set-Cookie: (ff_session=\w+);/m.exec(head)?.[1] ?? ''
  const me = await fetch(`${url}/auth/me`, { headers: { cookie } })
  expect(await me.json()).toMatchObject({
    data: {
      user: { email: 'owner@shop.example', role: 'owner' },
      memberships: [{ name: 'Demo Shop', role: 'owner' }],
    },
  })
  const again = await runLine(line.replace('…', 'another password of the owner'))
  expect(again.body.statusCode).toBe(401)
  expect(again.head).not.toContain('Set-Cookie')
  const credentials = { email: 'owner@shop.example', password: PASSWORD }
  const logIn = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  })
  expect(logIn.status).toBe(200)
})

it('A truncated link and a link of another installation are refused, and the own link stays valid', async () => {
  const [here, elsewhere] = [await start(), await start(newDataDir(), { FF_WORKERS: '2' })]
  const { link = '' } = here
  expect(link).not.toBe(elsewhere.link)
  for (const wrong of [link.slice(0, -1), link.slice(0, 11), elsewhere.link]) {
    expect([wrong, await redeem(here.url, wrong)]).toEqual([wrong, 401])
  }
  expect(await redeem(here.url, link)).toBe(200)
  expect(await redeem(elsewhere.url, elsewhere.link)).toBe(200)
})

it('A link expires after seven days, and later starts print none', async () => {
  const dataDir = newDataDir()
  const first = await start(dataDir)
  first.standalone.stop('SIGTERM')
  await first.standalone.ended
  const { storage } = sqlite({ path: dataFileOf({ dataDir }) })
  await storage.migrate()
  const [member] = (await storage.list('member', {})).data
  const { id = '', createdAt = '', linkExpiresAt } = member ?? {}
  const lifetime = Date.parse(linkExpiresAt ?? '') - Date.parse(createdAt)
  expect(lifetime / 86_400_000).toBeCloseTo(7, 2)
  await storage.update('member', id, { linkExpiresAt: new Date(Date.now() - 1).toISOString() })
  await storage.close()

  const next = await start(dataDir)
  expect(next.standalone.output).not.toMatch(/ffl_|one-time|auth\/password/i)
  expect(await redeem(next.url, first.link)).toBe(401)
})

it('A first start with FF_ADMIN_EMAIL prints no link, and its administrator logs in', async () => {
  const administrator = { FF_ADMIN_EMAIL: 'root@acme.test', FF_ADMIN_PASSWORD: PASSWORD }
  const { standalone, url } = await start(newDataDir(), administrator)
  expect(standalone.output).not.toMatch(/ffl_|one-time|auth\/password/i)
  const logIn = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'root@acme.test', password: PASSWORD }),
  })
  expect(logIn.status).toBe(200)
})
