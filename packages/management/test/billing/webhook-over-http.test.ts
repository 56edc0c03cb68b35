import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Storage } from '@ff/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { toNodeHandler } from '../../../server/src/node/http.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { type Listening, listen } from '../../../server/test/node/listening.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'
import { customer, event, offlinePayments, signatureOf } from './stripe-events.ts'

const PATH = '/flags/billing/webhooks/stripe'

let flags: ManagedServer
let orgId: string
/**
 * The body of a delivery. It is indented and not ASCII, so that parsing and serializing the body
 * changes its bytes.
 */
let body: string
let storage: Storage
const open: Listening[] = []

beforeEach(async () => {
  const parts = allInMemory()
  storage = parts.storage
  flags = createManagedServer({ ...parts, basePath: '/flags', payments: offlinePayments })
  await flags.start()
  const platform = { id: 'p', email: '', name: 'P', role: 'platform', orgId: null } as const
  const { id } = await flags.as(platform).createOrganization({ body: { name: 'Acme' } })
  orgId = id
  const fields = { name: 'Käse 漢字', metadata: { org_id: orgId } }
  body = JSON.stringify(event('customer.created', 1_893_456_000, customer(fields)), null, 3)
  return async () => {
    for (const one of open.splice(0)) await one.close()
    await flags.close()
  }
})

const headers = (signed = body) => ({
  'content-type': 'application/json; charset=utf-8',
  'stripe-signature': signatureOf(signed, Date.now()),
})

const customerId = async () => {
  return (await storage.find('organization', orgId))?.paymentCustomerId
}

/** Mounts the server as Express does, after the body parser of the host. */
async function mount(parse: (request: IncomingMessage) => Promise<unknown>): Promise<string> {
  const handler = toNodeHandler(flags)
  const listening = await listen(async (request, response) => {
    const parsed = await parse(request)
    if (parsed !== undefined) Object.assign(request, { body: parsed })
    handler(request, response)
  })
  open.push(listening)
  return listening.url
}

describe('Events of Stripe over HTTP', () => {
  it.each([
    ['does not read the body', async () => undefined],
    ['reads the body as text', (request: IncomingMessage) => text(request)],
    [
      'reads the body as bytes',
      async (request: IncomingMessage) => Buffer.from(await text(request)),
    ],
  ])('An event is accepted byte for byte over HTTP of Node if the host %s', async (_, parse) => {
    const url = await mount(parse)
    const altered = await fetch(url + PATH, {
      method: 'POST',
      headers: headers(),
      body: `${body} `,
    })
    expect(altered.status).toBe(400)
    expect(await customerId()).toBeNull()
    const response = await fetch(url + PATH, { method: 'POST', headers: headers(), body })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ statusCode: 200, message: 'OK', data: null })
    expect(await customerId()).toBe('cus_1')
  })

  it('An event is refused with a clear message if the host has parsed the body', async () => {
    const url = await mount(async (request) => JSON.parse(await text(request)))
    const response = await fetch(url + PATH, { method: 'POST', headers: headers(), body })
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({
      statusCode: 500,
      message: 'The host has parsed this body; mount the server before its body parser.',
      data: null,
    })
    expect(await customerId()).toBeNull()
  })

  it('An event is accepted byte for byte over fetch', async () => {
    const post = (sent: string) => {
      const request = { method: 'POST', headers: headers(), body: sent }
      return flags.fetch(new Request(`http://flags.test${PATH}`, request))
    }
    expect((await post(`${body}\n`)).status).toBe(400)
    expect(await customerId()).toBeNull()
    expect((await post(body)).status).toBe(200)
    expect(await customerId()).toBe('cus_1')
  })
})
