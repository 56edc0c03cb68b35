// Uses each optional peer through the package that declares it. Prints `done` if all results are right.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { flagSetDefinitionSchema } from '@ff/core/schema'
import { createManagement, SYSTEM } from '@ff/management/node'
import { oidcProvider } from '@ff/management/oidc'
import { stripePayments } from '@ff/management/stripe'
import { flagCodec } from '@ff/protocol/management'
import { createFlagServer, pinoLogger } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import { pino } from 'pino'
import Stripe from 'stripe'
import * as z from 'zod'

const provider = createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const authorization = {
    authorization_endpoint: `${issuer}/authorize`,
    jwks_uri: `${issuer}/keys`,
  }
  const isMetadata = request.url === '/.well-known/openid-configuration'
  response.end(JSON.stringify(isMetadata ? { issuer, ...authorization } : { id: 'cus_1' }))
})
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
const { port } = provider.address() as AddressInfo

async function logIn(): Promise<void> {
  const issuer = `http://127.0.0.1:${port}`
  const client = { clientId: 'shop', clientSecret: 'secret', allowHttp: true }
  const { url } = await oidcProvider({ issuer, ...client }).begin('http://127.0.0.1/callback')
  assert.equal(new URL(url).pathname, '/authorize')
  assert.equal(new URL(url).searchParams.get('client_id'), 'shop')
}

async function pay(): Promise<void> {
  const client = new Stripe('sk_test_key', { host: '127.0.0.1', port, protocol: 'http' })
  const payments = stripePayments({ client, webhookSecret: 'whsec_secret' })
  const customer = { orgId: 'org-1', name: 'Shop', email: null, idempotencyKey: 'key-1' }
  assert.deepEqual(await payments.createCustomer(customer), { customerId: 'cus_1' })
  const object = { id: 'cus_1', object: 'customer', name: 'Shop', email: null, metadata: {} }
  const fields = { id: 'evt_1', object: 'event', type: 'customer.deleted', created: 1_900_000_000 }
  const rawBody = JSON.stringify({ ...fields, data: { object } })
  const signing = { payload: rawBody, secret: 'whsec_secret' }
  const signature = client.webhooks.generateTestHeaderString(signing)
  const event = await payments.parseEvent({ rawBody, signature, now: Date.now() })
  assert.equal(event.id, 'evt_1')
  const forged = payments.parseEvent({ rawBody, signature: `${signature}0`, now: Date.now() })
  await assert.rejects(forged, /stripe-signature/)
}

async function manage(): Promise<void> {
  const database = new DatabaseSync(':memory:')
  const flags = createFlagServer({ ...sqlite({ database }), management: createManagement() })
  const management = flags.as(SYSTEM)
  await management.ensureProject({ key: 'shop' })
  const params = { projectId: 'shop' }
  const flag = await management.createFlag({ params, body: { key: 'dark', type: 'boolean' } })
  const wire: z.input<typeof flagCodec> = z.encode(flagCodec, flag)
  assert.equal(wire.client_visible, true)
  const live = { project: 'shop', environment: 'live' }
  assert.equal(await flags.value(live, 'dark', { kind: 'user', key: 'user-1' }, true), false)
  const page = await flags.fetch(new Request('http://127.0.0.1/docs'))
  assert.equal(page.status, 200)
  await flags.close()
  database.close()
}

async function log(): Promise<void> {
  const lines: string[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const flags = createFlagServer({ logger: pinoLogger(logger) })
  const unknown = { project: 'none', environment: 'live' }
  assert.equal(await flags.value(unknown, 'dark', {}, true), true)
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /"errorCode":"ENVIRONMENT_NOT_FOUND"/)
  await flags.close()
}

await Promise.all([logIn(), pay(), manage(), log()])
const definition = { version: 1, flags: [], segments: [] }
assert.equal(flagSetDefinitionSchema.parse(definition).version, 1)
assert.equal(flagSetDefinitionSchema.safeParse({ version: 'one' }).success, false)
provider.close()
provider.closeAllConnections()
console.log('done')
