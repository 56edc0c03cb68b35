import { createFlagServer } from '@ff/server'
import { expect, it } from 'vitest'
import { createManagement } from '../../src/node/node.ts'

const TOKEN = 'development-token'

const get = async (flags: { fetch(request: Request): Promise<Response> }, token: string) => {
  const headers = { authorization: `Bearer ${token}` }
  return (await flags.fetch(new Request('http://a/organizations', { headers }))).status
}

it('adminToken is a token with all permissions, beside the tokens of authenticateBearer', async () => {
  const viewer = { id: 'v', email: '', name: 'V', role: 'viewer', orgId: 'none' } as const
  const authenticateBearer = async (token: string) => (token === 'host' ? viewer : undefined)
  const management = createManagement({ adminToken: TOKEN, authenticateBearer })
  const flags = createFlagServer({ management })
  expect(await get(flags, TOKEN)).toBe(200)
  expect(await get(flags, 'host')).toBe(404)
  for (const wrong of [`${TOKEN}1`, TOKEN.slice(1), TOKEN.toUpperCase()]) {
    expect(await get(flags, wrong)).toBe(401)
  }
  await flags.close()
})

it.each([
  ['short'],
  [''],
  ['with a space in the middle'],
  ['x'.repeat(513)],
  ['with an ü in the middle'],
])('The adminToken %j is refused', (adminToken) => {
  expect(() => createManagement({ adminToken })).toThrow(/^adminToken must be 16 to 512/)
})

it('Without adminToken, no token is valid at first', async () => {
  const flags = createFlagServer({ management: createManagement({ adminToken: undefined }) })
  expect(await get(flags, TOKEN)).toBe(401)
  await flags.close()
})
