import { memory } from '@ff/storage'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { toNodeHandler } from '../../../server/src/node/http.ts'
import { call } from '../../../server/test/call.ts'
import { listen } from '../../../server/test/node/listening.ts'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'

const administrator = { email: 'root@acme.test', password: 'a password for the root' }
const TWO_COOKIES = [
  expect.stringMatching(/^ff_session=\S+; .*SameSite=Lax$/),
  expect.stringMatching(/^ff_device_\S+; .*SameSite=Lax$/),
]

let flags: ManagedServer

beforeEach(async () => {
  const passwordHasher = new ScryptPasswordHasher({ log2N: 4, r: 8, p: 1 })
  flags = createManagedServer({ ...memory(), administrator, passwordHasher })
  await flags.start()
})

afterEach(() => flags.close())

it.each([false, true])(
  'toNodeHandler sends each cookie in a separate header (host sets headers: %s)',
  async (hostSetsHeaders) => {
    const handler = toNodeHandler(flags)
    const host = await listen((request, response) => {
      if (hostSetsHeaders) response.setHeader('X-Powered-By', 'a host')
      handler(request, response)
    })
    try {
      const response = await fetch(`${host.url}/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(administrator),
      })
      expect(response.status).toBe(200)
      expect(response.headers.getSetCookie()).toEqual(TWO_COOKIES)
    } finally {
      await host.close()
    }
  },
)

it('flags.fetch sends each cookie in a separate header', async () => {
  const { status, headers } = await call(flags, '/auth/login', { body: administrator })
  expect(status).toBe(200)
  expect(headers.getSetCookie()).toEqual(TWO_COOKIES)
})
