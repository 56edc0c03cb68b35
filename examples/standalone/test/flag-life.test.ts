import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import type { Standalone } from '../src/serve.ts'
import { startStandalone } from '../src/standalone.ts'
import { findDamage } from '../src/verify.ts'

const ADMIN_TOKEN = 'an-administrators-own-token'
const USERS = Array.from({ length: 10_000 }, (_, index) => `user-${index}`)

const dataDir = mkdtempSync(join(tmpdir(), 'ff-life-'))
let standalone: Standalone
let pool: Pool

beforeAll(async () => {
  const config = readConfig({ PORT: '0', FF_DATA_DIR: dataDir, FF_ADMIN_TOKEN: ADMIN_TOKEN })
  standalone = await startStandalone(config, () => undefined)
  pool = new Pool(standalone.url, { connections: 32 })
})

afterAll(async () => {
  await pool.close()
  await standalone.close()
  rmSync(dataDir, { recursive: true, force: true })
})

// biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of responses
type Json = any

async function call(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<Json> {
  const answer = await pool.request({
    path,
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const { data, message } = (await answer.body.json()) as Json
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${message}`)
  return data
}

/** Returns the variation of each user over HTTP, from this version or a later one. */
async function layoutOfEach(sdkKey: string, flagKey: string, version: number): Promise<string[]> {
  const layoutOf = async (key: string): Promise<string> => {
    const answer = await pool.request({
      path: '/evaluator/evaluate',
      method: 'POST',
      headers: { 'x-api-key': sdkKey },
      body: JSON.stringify({ context: { kind: 'user', key, country: 'DE' } }),
    })
    const values = (await answer.body.json()) as Json
    const served = Number(answer.headers['x-ff-version'])
    return served < version ? layoutOf(key) : values[flagKey]
  }
  return Promise.all(USERS.map(layoutOf))
}

it('A rollout can be raised, reverted and restored over HTTP, and manipulated data is detected', async () => {
  const org = await call('POST', '/organizations', { name: 'Life' })
  const project = await call('POST', `/organizations/${org.id}/projects`, { key: 'life' })
  const inProject = `/projects/${project.id}`
  const live = (await call('GET', `${inProject}/envs`)).data.find((each: Json) => each.is_default)
  const inLive = `${inProject}/envs/${live.id}`
  const sdkKey = (
    await call('POST', `${inLive}/sdk-keys`, { name: 'life', kind: 'client', rate_limit: 600_000 })
  ).key
  const latest = async () => (await call('GET', `${inLive}/versions?limit=1`)).data[0].version

  const flag = await call('POST', `${inProject}/flags`, {
    key: 'layout',
    type: 'string',
    variations: ['list', 'gallery', 'story'].map((key) => ({ key, value: key })),
  })
  const [list, gallery, story] = flag.variations.map(({ id }: Json) => id)
  const segment = await call('POST', `${inProject}/segments`, {
    key: 'germans',
    rules: [{ attribute: 'country', operator: 'eq', value: 'DE' }],
  })
  const here = `${inLive}/flags/${flag.id}`
  const weights = (galleryWeight: number) => [
    { variation_id: list, weight: 60 },
    { variation_id: gallery, weight: galleryWeight },
    { variation_id: story, weight: 20 },
  ]
  const rollout = await call('POST', `${here}/rollouts`, {
    name: 'Split',
    strategy: 'variant',
    salt: 'life-of-flag',
    variants: weights(10),
  })
  await call('POST', `${here}/targeting-rules`, {
    name: 'Germans',
    kind: 'segment',
    segment_id: segment.id,
    rollout_id: rollout.id,
  })
  const beginning = await latest()
  const before = await layoutOfEach(sdkKey, 'layout', beginning)
  expect(new Set(before)).toEqual(new Set(['list', 'gallery', 'story']))

  const at = `${here}/rollouts/${rollout.id}`
  const raised = await call('PUT', at, { variants: weights(15) })
  const during = await layoutOfEach(sdkKey, 'layout', await latest())
  const moved = USERS.filter((_, index) => before[index] !== during[index])
  expect(raised.moved_percentage).toBe(5)
  expect(Math.abs((moved.length / USERS.length) * 100 - raised.moved_percentage)).toBeLessThan(0.5)
  for (const [index, layout] of before.entries()) {
    if (layout === 'gallery') expect(during[index]).toBe('gallery')
  }

  await call('PUT', at, { variants: weights(10) })
  expect(await layoutOfEach(sdkKey, 'layout', await latest())).toEqual(before)

  await call('PUT', here, { is_active: false })
  await call('PUT', at, { variants: weights(0) })
  await call('POST', `${inLive}/versions/${beginning}/restore`, {})
  expect(await layoutOfEach(sdkKey, 'layout', await latest())).toEqual(before)

  const verify = () => call('GET', `/audit/verify?org_id=${org.id}`)
  expect(await verify()).toMatchObject({ valid: true, first_broken: null })
  const { id: edited } = (await call('GET', `/audit/logs?org_id=${org.id}&event_type=flag.created`))
    .data[0]
  expect(await findDamage({ dataDir })).toEqual([])
  editByHand(`update ff_audit_event set actor_id = 'somebody-else' where id = ?`, edited)
  expect(await verify()).toMatchObject({ valid: false, first_broken: { id: edited } })
  expect(await findDamage({ dataDir })).toEqual([`The audit entry ${edited} is broken: changed.`])
  editByHand(`update ff_flag set tags = '[oops' where id = ?`, flag.id)
  expect(await findDamage({ dataDir })).toEqual([
    `The flag record ${flag.id} is damaged: restore a backup.`,
  ])
})

/** Changes the database directly, as an intruder could do. */
function editByHand(sql: string, id: string): void {
  const storage = createRequire(new URL('../../../packages/storage/package.json', import.meta.url))
  const database = new (storage('@photostructure/sqlite').DatabaseSync)(join(dataDir, 'ff.sqlite'))
  // The server can be writing counts at the same moment.
  database.exec('pragma busy_timeout = 60000')
  expect(database.prepare(sql).run(id).changes).toBe(1)
  database.close()
}
