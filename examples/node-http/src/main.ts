import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Actor } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { sqlite } from '@ff/storage/sqlite'

// #region embed
const flags = createFlagServer({
  ...sqlite({ path: ':memory:' }),
  basePath: '/flags',
  management: createManagement(),
})
const handleFlags = toNodeHandler(flags)

const server = createServer((request, response) => {
  if (request.url?.startsWith('/flags/')) handleFlags(request, response)
  else greet(request.headers['x-plan']).then((text) => response.end(text))
})
attachWebSocket(server, flags)

async function greet(plan: string | string[] = 'free'): Promise<string> {
  const context = { kind: 'user', key: 'user-1', plan: String(plan) }
  const { 'new-greeting': isNew } = await flags.allOrThrow({ environmentId }, context)
  return isNew === true ? 'Good to see you!' : 'Hello.'
}
// #endregion

// A team usually creates flags over the management endpoints.
// #region manage
const me: Actor = { id: 'me', email: '', name: 'Set-up script', role: 'platform', orgId: null }
const management = flags.as(me)
await flags.start()

const { id: orgId } = await management.createOrganization({ body: { name: 'Example' } })
const { id: projectId, environments } = await management.createProject({
  params: { orgId },
  body: { key: 'site' },
})
const environmentId = environments[0]?.id ?? ''

const flag = await management.createFlag({
  params: { projectId },
  body: { key: 'new-greeting', type: 'boolean' },
})
const isTrue = flag.variations.find(({ key }) => key === 'true')
await management.createTargetingRule({
  params: { projectId, environmentId, flagId: flag.id },
  body: {
    name: 'Paying customers',
    conditions: [{ attribute: 'plan', operator: 'in', value: '["pro","enterprise"]' }],
    ...(isTrue !== undefined && { variationId: isTrue.id }),
  },
})
// #endregion

await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const greeting = async (plan: string): Promise<string> =>
  (await fetch(url, { headers: { 'x-plan': plan } })).text()
assert.equal(await greeting('free'), 'Hello.')
assert.equal(await greeting('pro'), 'Good to see you!')
console.log('Response of the app, which depends on the flag:', await greeting('pro'))

const refused = await fetch(`${url}/flags/evaluator/evaluate`, { method: 'POST', body: '{}' })
assert.equal(refused.status, 401)
console.log('Response of the mounted server below /flags:', await refused.text())

server.close()
server.closeAllConnections()
await flags.close()
