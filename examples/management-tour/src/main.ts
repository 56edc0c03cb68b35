import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { compileFlagSet, evaluateValue } from '@ff/core'
import { Client, type Data } from './client.ts'
import { OpenApi } from './open-api.ts'
import { startStandalone } from './standalone.ts'

const password = () => randomBytes(18).toString('base64url')
const administrator = { email: 'admin@tour.example', password: password() }
const server = await startStandalone({
  FF_ADMIN_EMAIL: administrator.email,
  FF_ADMIN_PASSWORD: administrator.password,
})
const openApi = new OpenApi(await (await fetch(`${server.url}/openapi.json`)).json())

console.log('The administrator of the installation logs in and offers a plan.')
const platform = new Client(server.url, openApi)
await platform.logIn(administrator.email, administrator.password)
const plan = await platform.manage('POST', '/plan-limits/plans', {
  body: {
    name: 'Starter',
    max_projects: 1,
    max_environments: 3,
    max_flags: 2,
    max_api_calls: 10,
    grace_buffer_pct: 20,
    overage_block_size: 5,
    overage_rate_eur_cents: 150,
  },
})

console.log('Acme signs up: an organization with a plan, and an owner that sets a password.')
const { id: orgId } = await platform.manage('POST', '/organizations', {
  body: { name: 'Acme', billing_email: 'billing@acme.example' },
})
const organization = `/organizations/${orgId}`
await platform.manage('PUT', `${organization}/plan`, { body: { plan_id: plan.id } })
const invited = await platform.manage('POST', `${organization}/members`, {
  body: { email: 'Olga@Acme.example', name: 'Olga', role: 'owner' },
})
const olga = { email: 'olga@acme.example', password: password() }
const anonymous = new Client(server.url, openApi)
const newPassword = { token: invited.one_time_link, new_password: olga.password }
await anonymous.send('POST', '/auth/password', { body: newPassword })
await anonymous.send('POST', '/auth/password', { body: newPassword, status: 401 })
const owner = new Client(server.url, openApi)
const session = await owner.logIn(olga.email, olga.password)
assert.deepEqual(
  session.memberships.map(({ name, role }: Data) => [name, role]),
  [['Acme', 'owner']],
)

console.log('The owner creates a project with a flag and a rule for Germany.')
const project = await owner.manage('POST', `${organization}/projects`, { body: { key: 'shop' } })
const live = project.environments.find(({ is_default }: Data) => is_default)
const environment = `/projects/${project.id}/envs/${live.id}`
const flags = `/projects/${project.id}/flags`
const flag = await owner.manage('POST', flags, {
  body: {
    key: 'greeting',
    type: 'string',
    variations: [
      { key: 'english', value: 'Hello' },
      { key: 'german', value: 'Guten Tag' },
    ],
  },
})
const german = flag.variations.find(({ key }: Data) => key === 'german')
const rules = `${environment}/flags/${flag.id}/targeting-rules`
const rule = await owner.manage('POST', rules, {
  body: {
    name: 'Germany',
    conditions: [{ attribute: 'country', operator: 'eq', value: 'DE' }],
  },
})
const changed = await owner.manage('PUT', `${rules}/${rule.id}`, {
  body: { variation_id: german.id },
})
assert.equal(changed.rule.variation_id, german.id)

console.log('The plan permits two flags and one project.')
await owner.manage('POST', flags, { body: { key: 'beta', type: 'boolean' } })
const refused = await owner.manage('POST', flags, {
  body: { key: 'gamma', type: 'boolean' },
  status: 403,
})
assert.equal(refused.limit, 'max_flags')
await owner.manage('POST', `${organization}/projects`, { body: { key: 'blog' }, status: 403 })

console.log('An application evaluates with an SDK key, 24 times.')
const { key } = await owner.manage('POST', `${environment}/sdk-keys`, {
  body: { name: 'Web shop', kind: 'client' },
})
const application = new Client(server.url, openApi, { 'x-api-key': key })
const calls = 24
for (let index = 0; index < calls; index += 1) {
  const isGerman = index % 4 === 0
  const context = { kind: 'user', key: `user-${index}`, country: isGerman ? 'DE' : 'FR' }
  const values = await application.send('POST', '/evaluator/evaluate', { body: { context } })
  assert.deepEqual(values, { beta: false, greeting: isGerman ? 'Guten Tag' : 'Hello' })
}
await application.send('POST', '/evaluator/evaluate', { body: { context: 1 }, status: 400 })
const stranger = new Client(server.url, openApi, { 'x-api-key': `ff_${'0'.repeat(64)}` })
await stranger.send('POST', '/evaluator/evaluate', { body: { context: {} }, status: 401 })

console.log('A published version is evaluated locally, with a rule that was deleted later.')
const published = await owner.manage('GET', `${environment}/versions?limit=1`)
const { version } = published.data[0]
await owner.manage('DELETE', `${rules}/${rule.id}`)
// #region version
const definition = await owner.manage('GET', `${environment}/versions/${version}`)
const flagSet = compileFlagSet(definition)
const context = { kind: 'user', key: 'user-0', country: 'DE' }
assert.equal(evaluateValue(flagSet, 'greeting', context, Date.now()), 'Guten Tag')
// #endregion

console.log('The metrics and the observed contexts show the evaluations.')
const metricsOf = () =>
  owner.manage('GET', `/flags/${flag.id}/metrics?environmentId=${live.id}&period=24h`)
const metrics = await until(metricsOf, ({ totalEvaluations }) => totalEvaluations.value === calls)
assert.deepEqual(
  metrics.variationPerformance.map(({ key, evaluations, percentage }: Data) => {
    return { key, evaluations, percentage }
  }),
  [
    { key: 'english', evaluations: 18, percentage: 75 },
    { key: 'german', evaluations: 6, percentage: 25 },
  ],
)
assert.equal(metrics.successRate.value, '100%')
const contexts = (query: string) =>
  owner.manage('GET', `/contexts/observed-contexts?env_id=${live.id}&${query}`)
const seen = await until(
  () => contexts('kind=user&success=true&perPage=100'),
  ({ meta }) => meta.total === calls,
)
const [first] = seen.data
assert.deepEqual(Object.keys(first.context_json).sort(), ['country', 'key', 'kind'])
assert.ok(JSON.parse(first.variation_results).greeting)
const forgotten = `/contexts/observed-contexts?env_id=${live.id}&key=user-7`
await owner.manage('DELETE', forgotten)
assert.equal((await contexts('perPage=1')).meta.total, calls - 1)

console.log('The usage exceeds the free calls: ten calls and a grace buffer of two.')
const usage = await until(
  () => owner.manage('GET', `${organization}/usage`),
  ({ api_usage }) => api_usage === calls,
)
assert.deepEqual(
  [usage.free_api_calls, usage.overage_blocks, usage.overage_eur_cents],
  [12, 3, 450],
)

console.log('Acme cancels its plan, which ends the period with an invoice.')
await platform.manage('PUT', `${organization}/plan`, { body: { plan_id: null } })
const { invoices } = await owner.manage('GET', `/billing${organization}/invoices`)
assert.deepEqual(
  invoices.map(({ amount_due, currency, status }: Data) => [amount_due, currency, status]),
  [[450, 'eur', 'draft']],
)

console.log('The audit log contains all changes, and its verification finds no manipulation.')
const log = await owner.manage('GET', '/audit/logs?limit=100&source=both&sort=created_at:asc')
const events = log.data.map(({ eventType }: Data) => eventType)
for (const expected of [
  'organization.created',
  'member.added',
  'user.login_success',
  'project.created',
  'flag.created',
  'targeting_rule.updated',
  'sdk_key.created',
  'observed_context.forgotten',
  'organization.plan_changed',
]) {
  assert.ok(events.includes(expected), `${expected} is audited: ${events}`)
}
const verified = await owner.manage('GET', '/audit/verify')
assert.equal(verified.valid, true)

await owner.send('POST', '/auth/logout')
await owner.manage('GET', organization, { status: 401 })
await server.stop()
console.log(`${openApi.seen.size} operations responded as the OpenAPI document describes.`)

/** Repeats a request until the response is as expected. Counts are written with a delay. */
async function until(
  load: () => Promise<Data>,
  isExpected: (data: Data) => boolean,
): Promise<Data> {
  const end = Date.now() + 15_000
  for (;;) {
    const data = await load()
    if (isExpected(data)) return data
    assert.ok(Date.now() < end, `still ${JSON.stringify(data)}`)
    await pause(200)
  }
}
