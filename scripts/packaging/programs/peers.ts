// Uses each optional peer through the package that declares it. Prints `done` if all results are right.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { flagSetDefinitionSchema } from '@ff/core/schema'
import { createManagement } from '@ff/management/node'
import { oidcProvider } from '@ff/management/oidc'
import { stripePayments } from '@ff/management/stripe'
import { flagCodec } from '@ff/protocol/management'
import { createFlagServer } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
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
  await flags.start()
  const actor = { id: 'me', email: '', name: 'Me', role: 'platform', orgId: null } as const
  const management = flags.as(actor)
  const { id: orgId } = await management.createOrganization({ body: { name: 'Shop' } })
  const project = await management.createProject({ params: { orgId }, body: { key: 'shop' } })
  const params = { projectId: project.id }
  const flag = await management.createFlag({ params, body: { key: 'dark', type: 'boolean' } })
  const wire: z.input<typeof flagCodec> = z.encode(flagCodec, flag)
  assert.equal(wire.client_visible, true)
  const environmentId = project.environments[0]?.id ?? ''
  const values = await flags.evaluate({ environmentId }, { kind: 'user', key: 'user-1' })
  assert.deepEqual({ ...values }, { dark: false })
  await flags.close()
  database.close()
}

await Promise.all([logIn(), pay(), manage()])
const definition = { version: 1, flags: [], segments: [] }
assert.equal(flagSetDefinitionSchema.parse(definition).version, 1)
assert.equal(flagSetDefinitionSchema.safeParse({ version: 'one' }).success, false)
provider.close()
provider.closeAllConnections()
console.log('done')
