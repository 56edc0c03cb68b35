import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Stripe from 'stripe'
import { expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import { startStandalone } from '../src/standalone.ts'

const SECRET = 'whsec_test'

async function statusOfEvent(env: Readonly<Record<string, string>>): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ff-stripe-'))
  const config = readConfig({ PORT: '0', FF_DATA_DIR: dataDir, ...env })
  const standalone = await startStandalone(config, () => undefined)
  const event = { id: 'evt_1', object: 'event', created: 1, type: 'ping', data: { object: {} } }
  const payload = JSON.stringify(event, null, 2)
  const { webhooks } = new Stripe('sk_test_1')
  const signature = webhooks.generateTestHeaderString({ payload, secret: SECRET })
  const { status } = await fetch(`${standalone.url}/billing/webhooks/stripe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    body: payload,
  })
  await standalone.close()
  rmSync(dataDir, { recursive: true })
  return status
}

it('The standalone server accepts events from Stripe only if both secrets are set', async () => {
  const FF_STRIPE_SECRET_KEY = 'sk_test_1'
  expect(await statusOfEvent({ FF_STRIPE_SECRET_KEY, FF_STRIPE_WEBHOOK_SECRET: SECRET })).toBe(200)
  const FF_STRIPE_WEBHOOK_SECRET = 'whsec_another'
  expect(await statusOfEvent({ FF_STRIPE_SECRET_KEY, FF_STRIPE_WEBHOOK_SECRET })).toBe(400)
  expect(await statusOfEvent({})).toBe(404)
})
