// Loads the data plane with `require`, evaluates a flag over HTTP, and prints the response.
import crypto = require('node:crypto')
import http = require('node:http')
import net = require('node:net')
import server = require('@ff/server')
import node = require('@ff/server/node')
import storage = require('@ff/storage')

const definition = {
  id: 'flag-1',
  key: 'new-checkout',
  type: 'boolean',
  isActive: true,
  variations: [{ id: 'on', key: 'on', value: 'true' }],
  defaultVariationId: 'on',
  offVariationId: null,
  targets: [],
  prerequisites: [],
  rules: [],
  rollouts: [],
} as const

const createdAt = '2030-01-01T00:00:00.000Z'
const frame = { createdAt, updatedAt: createdAt, deletedAt: null, revision: 1 }

async function createEnvironment(store: storage.Storage): Promise<string> {
  const [projectId, environmentId] = [crypto.randomUUID(), crypto.randomUUID()]
  const naming = { key: 'live', name: 'Live', isDefault: true }
  const settings = { isProduction: true, commentRequired: false, orderIndex: 0 }
  const environment = { ...frame, id: environmentId, projectId, ...naming, ...settings }
  const kept = { keptAttributes: [], keptSince: [] }
  await store.insert('environment', { ...environment, contextPrivacy: 'minimal', ...kept })
  const key = `ff_${crypto.randomBytes(32).toString('hex')}`
  const hash = crypto.createHash('sha256').update(key).digest('hex')
  const access = { name: 'web', prefix: key.slice(0, 11), hash, rateLimit: null }
  const dates = { expiresAt: null, revokedAt: null, lastUsedAt: null }
  const ids = { id: crypto.randomUUID(), projectId, environmentId }
  await store.insert('sdkKey', { ...frame, ...ids, ...access, ...dates, kind: 'client' })
  const change = { kind: 'flag', id: 'flag-1', definition } as const
  await store.publish(environmentId, [change], { publishedAt: createdAt, eventId: null })
  return key
}

async function main(): Promise<void> {
  const store = storage.memory()
  await store.storage.migrate()
  const key = await createEnvironment(store.storage)
  const flags = server.createFlagServer(store)
  const host = http.createServer(node.toNodeHandler(flags))
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  const { port } = host.address() as net.AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/evaluator/evaluate`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: '{"context":{"kind":"user","key":"user-1"}}',
  })
  process.stdout.write(await response.text())
  host.close()
  await flags.close()
}

main()
