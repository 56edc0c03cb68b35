import { IncomingMessage } from 'node:http'
import { memory } from '@ff/storage'
import { expect, it, onTestFinished } from 'vitest'
import { toNodeHandler } from '../../../server/src/node/http.ts'
import { listen } from '../../../server/test/node/listening.ts'
import type { IdentifyUser } from '../../src/index.ts'
import { createManagedServer } from '../world/managed-server.ts'

const ACTOR = {
  id: 'ada',
  email: 'ada@host.test',
  name: 'Ada',
  role: 'platform',
  orgId: null,
} as const

/** Creates a server that identifies the user on the request object of the host. */
function createServer() {
  const requests: unknown[] = []
  const identifyUser: IdentifyUser = ({ hostRequest }) => {
    requests.push(hostRequest)
    return (hostRequest as { user?: typeof ACTOR }).user
  }
  const flags = createManagedServer({ ...memory(), users: false, identifyUser })
  onTestFinished(() => flags.close())
  return { flags, requests }
}

it('With toNodeHandler, identifyUser receives the IncomingMessage with the properties that the host has set', async () => {
  const { flags, requests } = createServer()
  const handler = toNodeHandler(flags)
  const host = await listen((request, response) => {
    const isLoggedIn = request.headers.cookie === 'session=ada'
    handler(isLoggedIn ? Object.assign(request, { user: ACTOR }) : request, response)
  })
  onTestFinished(() => host.close())
  const me = (cookie: string) => fetch(`${host.url}/auth/me`, { headers: { cookie } })
  const answer = await me('session=ada')
  expect(await answer.json()).toMatchObject({
    data: { user: { id: 'ada', role: 'platform', org_id: null }, csrf_token: null },
  })
  expect((await me('session=eve')).status).toBe(401)
  const headers = { cookie: 'session=ada' }
  expect((await fetch(`${host.url}/metrics`, { headers })).status).toBe(200)
  expect(requests).toHaveLength(3)
  for (const request of requests) expect(request).toBeInstanceOf(IncomingMessage)
})

it('With flags.fetch, identifyUser receives the Request of the host', async () => {
  const { flags, requests } = createServer()
  const request = Object.assign(new Request('http://flags.test/auth/me'), { user: ACTOR })
  expect((await flags.fetch(request)).status).toBe(200)
  expect(requests).toEqual([request])
  expect((await flags.fetch(new Request('http://flags.test/auth/me'))).status).toBe(401)
})
