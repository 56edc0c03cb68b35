import type { EvaluationContext, FlagValues } from '@ff/core'
import type { Storage } from '@ff/storage'
import { postgres } from '@ff/storage/postgres'
import { expect, it } from 'vitest'
import { report, sized } from '../../../../server/test/drills/scale.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import { type Json, type Tenant, World } from '../../world/world.ts'
import { addTenants, evaluate, withStorage } from '../data-file.ts'
import { startServer } from '../server-process.ts'
import { startCuttingProxy } from './cutting-proxy.ts'
import { appliedMigrations, createOlderSchema, RELEASED } from './older-schemas.ts'

/** The number of migrations between two earlier schemas. */
const SCHEMA_STEP = sized({ full: 1, small: 3 })
/** The number of statements between two lost connections. */
const STATEMENT_STEP = sized({ full: 1, small: 60 })
const FLAGS = 5
const CONTEXTS: readonly EvaluationContext[] = Array.from(
  { length: sized({ full: 1000, small: 50 }) },
  (_, index) => ({ kind: 'user', key: `user-${index}`, plan: `plan-${index % FLAGS}` }),
)

it('A migration of an earlier schema that loses its connection at any statement resumes, and results stay equal', {
  timeout: 900_000,
}, async () => {
  const { url: source, tenant, results } = await createSource()
  const counts: number[] = []
  for (let migrations = 0; migrations <= RELEASED; migrations += SCHEMA_STEP) {
    const url = await createOlderSchema(migrations, source)
    counts.push(await migrateWithCuts(url, migrations))
    const expected = migrations === 0 ? CONTEXTS.map(() => ({})) : results
    expect(await evaluateEach(url, tenant), `after ${migrations} migrations`).toEqual(expected)
  }
  const cuts = counts.reduce((sum, count) => sum + count, 0)
  expect(cuts).toBeGreaterThan(counts.length)
  report(
    `${counts.length} schemas migrated on PostgreSQL, ${cuts} connections lost, ` +
      `${CONTEXTS.length} contexts with equal results`,
  )
})

it('Two servers that start at once over an earlier schema migrate it once, and both serve', async () => {
  const { url: source, sdkKey, results } = await createSource()
  const url = await createOlderSchema(1, source)
  const servers = await Promise.all([startServer(url), startServer(url)])
  expect(await appliedMigrations(url)).toBe(RELEASED)
  const expected = { status: 200, data: results[1] }
  for (const server of servers) expect(await evaluate(server.url, sdkKey)).toEqual(expected)
})

/** Creates a store with flags, and returns their values for all contexts. */
async function createSource() {
  const { url } = await newPostgresSchema()
  const tenants = await addTenants(url)
  await withStorage(url, (storage) => addFlags(storage, tenants.tenant))
  const results = await evaluateEach(url, tenants.tenant)
  expect(new Set(results.map((values) => JSON.stringify(values))).size).toBeGreaterThan(FLAGS)
  return { url, ...tenants, results }
}

/** Migrates a schema through a proxy that loses the connections at a later statement each time. */
async function migrateWithCuts(url: string, migrations: number): Promise<number> {
  const proxy = await startCuttingProxy(url)
  for (let cuts = 0; ; cuts += 1) {
    proxy.cutAfter(cuts * STATEMENT_STEP)
    const { storage } = postgres({ url: proxy.url, listenUrl: false })
    const code = await storage.migrate().then(
      () => undefined,
      (error) => error.code,
    )
    await storage.close()
    if (code === undefined) return cuts
    expect(code).toBe('UNAVAILABLE')
    expect([migrations, RELEASED]).toContain(await appliedMigrations(url))
  }
}

function evaluateEach(url: string, { live }: Tenant): Promise<readonly FlagValues[]> {
  return withStorage(url, async (storage) =>
    (await World.create(storage)).evaluateEach(live, CONTEXTS),
  )
}

/** Adds flags with a rule and a rollout each. */
async function addFlags(storage: Storage, { project, live, tokens }: Tenant) {
  const world = await World.create(storage)
  const path = `/projects/${project.id}`
  for (let index = 0; index < FLAGS; index += 1) {
    const variations = ['x', 'y', 'z'].map((key) => ({ key, value: key }))
    const flag = await world.call('POST', `${path}/flags`, {
      token: tokens.editor,
      body: { key: `flag-${index}`, type: 'string', variations },
    })
    const configuration = `${path}/envs/${live.id}/flags/${flag.data.id}/configuration`
    const present = await world.call('GET', configuration, { token: tokens.editor })
    const configured = await world.call('PUT', configuration, {
      token: tokens.editor,
      headers: { 'if-match': `"${present.data.revision}"` },
      body: configurationOf(index, flag.data.variations),
    })
    expect(configured.status, configured.text).toBe(200)
  }
}

function configurationOf(index: number, [x, y, z]: readonly Json[]): Json {
  const [id, first, second] = Array.from({ length: 3 }, () => crypto.randomUUID())
  const rollout = { id, name: 'Half', strategy: 'percentage', salt: `salt-${index}` }
  const condition = { attribute: 'user.plan', operator: 'eq', value: `plan-${index}` }
  const everyone = { attribute: 'user.key', operator: 'starts_with', value: 'user-' }
  return {
    state: { is_active: true, targets: [{ variation_id: y.id, kind: 'user', keys: ['user-1'] }] },
    targeting_rules: [
      { id: first, name: 'Plan', conditions: [condition], variation_id: x.id },
      { id: second, name: 'Half', conditions: [everyone], rollout_id: id },
    ],
    rollouts: [{ ...rollout, variation_id: z.id, percentage: 50 }],
  }
}
