import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { RunningStandalone } from './running-standalone.ts'

const PASSWORDS = ['the first password of the owner', 'the second password of the owner'] as const

/** Starts a proxy that records the addresses of requests. Returns its URL and the addresses. */
async function recordingProxy(target: string): Promise<{ url: string; addresses: string[] }> {
  const addresses: string[] = []
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    addresses.push(`${method} ${url}`)
    const sent = request(target + url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(outgoing)
    })
    incoming.pipe(sent)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, addresses }
}

/** Returns the secrets that a first start has printed. */
function printedSecrets(output: string): readonly string[] {
  const secrets = new Set(output.match(/\b(?:ffat|ffl|ff)_[0-9a-f]{64}\b/g))
  expect([...secrets].map((secret) => secret.split('_')[0])).toEqual(['ffat', 'ff', 'ff', 'ffl'])
  return [...secrets]
}

interface Send {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: object
}

function sender(url: string) {
  return async (path: string, { method, headers, body }: Send = {}) => {
    const answer = await fetch(url + path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of responses
    const { data } = (await answer.json()) as any
    const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    return { status: answer.status, data, cookie }
  }
}

/** Uses all kinds of credentials, correct and wrong ones. Returns the secrets that it has received. */
async function useCredentials(output: string, url: string): Promise<string[]> {
  const send = sender(url)
  const [, key = '', , link = ''] = printedSecrets(output)
  const [first, second] = PASSWORDS
  const redeem = () => send('/auth/password', { body: { token: link, new_password: first } })
  expect([(await redeem()).status, (await redeem()).status]).toEqual([200, 401])
  const email = 'owner@shop.example'
  expect((await send('/auth/login', { body: { email, password: second } })).status).toBe(401)
  const session = await send('/auth/login', { body: { email, password: first } })
  const csrf: string = session.data.csrf_token
  const headers = { cookie: session.cookie, 'x-csrf-token': csrf }
  const change = { old_password: first, new_password: second }
  expect((await send('/auth/password', { headers, body: change })).status).toBe(200)
  const orgId: string = session.data.user.org_id
  const token = await send(`/organizations/${orgId}/tokens`, {
    headers,
    body: { name: 'Search', role: 'viewer' },
  })
  const invited = await send(`/organizations/${orgId}/members`, {
    headers,
    body: { email: 'ada@shop.example', role: 'viewer' },
  })
  expect([token.status, invited.status]).toEqual([201, 201])
  const bearer = { authorization: `Bearer ${token.data.token}` }
  expect((await send('/projects/shop/flags', { headers: bearer })).status).toBe(200)
  const context = { context: { kind: 'user', key: 'user-1' } }
  for (const used of [key, `${key}0`, link]) {
    await send('/evaluator/evaluate', { headers: { 'x-api-key': used }, body: context })
  }
  expect((await send('/auth/logout', { headers, method: 'POST' })).status).toBe(200)
  return [
    session.cookie.replace('ff_session=', ''),
    csrf,
    token.data.token,
    invited.data.one_time_link,
  ]
}

it('After a first start and its use, no secret is in the data folder, in the log or in the address of a request', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ff-searched-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const settings = { FF_LOG_LEVEL: 'trace', FF_LOG_FORMAT: 'json' }
  const standalone = new RunningStandalone(settings, dataDir)
  onTestFinished(() => standalone.kill())
  const server = await standalone.listening()
  await expect.poll(() => standalone.output).toContain('API documentation')
  const { url, addresses } = await recordingProxy(server)
  const received = await useCredentials(standalone.output, url)
  // Files are also searched while the log of the database exists.
  const whileRunning = filesIn(dataDir)
  standalone.stop('SIGTERM')
  expect(await standalone.ended).toBe(0)

  const secrets = [...printedSecrets(standalone.output), ...received, ...PASSWORDS]
  expect(new Set(secrets).size).toBe(10)
  const files = [...whileRunning, ...filesIn(dataDir)]
  expect(Buffer.concat(files).includes('user.login_success')).toBe(true)
  expect(addresses).toHaveLength(12)
  expect(standalone.log).toContain('/auth/password')
  for (const secret of secrets) {
    // The first eleven characters of keys and tokens are stored, so a later part is searched for.
    const part = secret.length > 60 ? secret.slice(12, 44) : secret
    for (const file of files) expect(file.includes(part)).toBe(false)
    expect(standalone.log).not.toContain(part)
    expect(addresses.join('\n')).not.toContain(part)
  }
})

function filesIn(folder: string): readonly Buffer[] {
  return readdirSync(folder).map((name) => readFileSync(join(folder, name)))
}
