import { type Endpoint, endpoints } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { createScene, type Scene, tracesOf } from '../world/scene.ts'
import { type Json, SYSTEM_ACTOR } from '../world/world.ts'

const STATE = '/projects/shop/envs/live/flags/secret-flag'
const NO_VARIATION = 'must be the id or the key of a variation of this flag'

/** Returns a body in the spelling of calls in process. */
function camelCased(body: Json): Json {
  const text = JSON.stringify(body)
  return JSON.parse(
    text.replace(/"(\w+)":/g, (name) => name.replace(/_(\w)/g, (_, first) => first.toUpperCase())),
  )
}

describe('References in bodies', () => {
  let scene: Scene
  let ids: Readonly<Record<string, string>>

  beforeEach(async () => {
    scene = await createScene()
    const flag = await done('GET', '/projects/shop/flags/secret-flag')
    const other = await done('POST', '/projects/shop/flags', { key: 'other', type: 'boolean' })
    const { segmentId = '' } = scene.params
    ids = {
      ...Object.fromEntries([...flag.variations, ...other.variations].map((v) => [v.key, v.id])),
      s: segmentId,
      other: other.id,
      live: scene.mine.live.id,
      staging: scene.mine.staging.id,
    }
  })

  async function send(method: string, address: string, body?: Json) {
    return scene.world.call(method, address, { token: scene.mine.tokens.admin, body })
  }

  async function done(method: string, address: string, body?: Json): Promise<Json> {
    const answer = await send(method, address, body)
    if (answer.status >= 300) throw new Error(answer.text)
    return answer.data
  }

  /** Returns the use cases for an owner, whose project has a key that others use too. */
  function inProcess() {
    return scene.world.as({ ...SYSTEM_ACTOR, role: 'owner', orgId: scene.mine.orgId })
  }

  /** Replaces each key in a body by its id. */
  function byId(body: Json): Json {
    const text = JSON.stringify(body).replace(/":"(\w+)"/g, (all, key) => {
      return ids[key] === undefined ? all : `":"${ids[key]}"`
    })
    const listed = /"variation_ids":\["(\w+)"\]/g
    return JSON.parse(text.replace(listed, (_, key) => `"variation_ids":["${ids[key]}"]`))
  }

  const rollout = { name: 'x', strategy: 'percentage', variation_id: 'b', percentage: 5 }
  const variants = [
    { variation_id: 'b', weight: 10 },
    { variation_id: 'a', weight: 20 },
  ]
  const split = { name: 'x', strategy: 'variant', variants }
  const rule = { name: 'x', kind: 'segment', segment_id: 's', variation_id: 'a', rollout_id: null }
  const prerequisites = [{ flag_id: 'other', variation_ids: ['true'] }]
  const targets = [{ variation_id: 'b', kind: 'user', keys: ['u'] }]

  const writes: readonly (readonly [string, string, Json])[] = [
    ['PUT', STATE, { default_variation_id: 'b', off_variation_id: 'a' }],
    ['PUT', STATE, { targets }],
    ['PUT', STATE, { prerequisites }],
    ['POST', `${STATE}/targeting-rules`, rule],
    ['PUT', `${STATE}/targeting-rules/{ruleId}`, rule],
    ['POST', `${STATE}/rollouts`, rollout],
    ['POST', `${STATE}/rollouts`, split],
    ['PUT', `${STATE}/rollouts/{rolloutId}`, split],
    ['PUT', `${STATE}/rollouts/{rolloutId}`, { variation_id: 'b' }],
  ]

  it.each(writes)('%s %s with keys stores and returns ids: %j', async (method, path, body) => {
    const address = path.replace(/\{(\w+)\}/g, (_, param) => scene.params[param] ?? '')
    const { data } = await send(method, address, body)
    expect(data.rule ?? data).toMatchObject(byId(body))
    const again = await send(method, address, byId(body))
    expect(again.data.rule ?? again.data).toMatchObject(byId(body))
  })

  it.each(writes)('%s %s in process with keys stores and returns ids: %j', async (...row) => {
    const [method, template, body] = row
    const all = Object.entries<Endpoint>(endpoints)
    const pattern = template.replace(STATE, '/projects/{projectId}/envs/{envId}/flags/{flagId}')
    const [name] = all.find(([, each]) => each.method === method && each.path === pattern) ?? []
    const { ruleId, rolloutId } = scene.params
    const params = {
      projectId: 'shop',
      environmentId: 'live',
      flagId: 'secret-flag',
      ruleId,
      rolloutId,
    }
    const management = inProcess()
    const use = (management as Json)[name ?? '']
    const result = await use({ params, body: camelCased(body) })
    expect(result.rule ?? result).toMatchObject(camelCased(byId(body)))
  })

  const refused: readonly (readonly [string, string, Json, string, string])[] = [
    ['PUT', STATE, { default_variation_id: 'true' }, 'default_variation_id', NO_VARIATION],
    ['PUT', STATE, { off_variation_id: 'none' }, 'off_variation_id', NO_VARIATION],
    [
      'PUT',
      STATE,
      { targets: [{ ...targets[0], variation_id: 'true' }] },
      'targets.0.variation_id',
      NO_VARIATION,
    ],
    [
      'PUT',
      STATE,
      { prerequisites: [{ flag_id: 'none', variation_ids: ['true'] }] },
      'prerequisites.0.flag_id',
      'must be the id or the key of a flag of this project',
    ],
    [
      'PUT',
      STATE,
      { prerequisites: [{ flag_id: 'other', variation_ids: ['a'] }] },
      'prerequisites.0.variation_ids.0',
      'must be the id or the key of a variation of the prerequisite',
    ],
    [
      'PUT',
      STATE,
      { prerequisites: [{ flag_id: 'secret-flag', variation_ids: ['a'] }] },
      'prerequisites.0.flag_id',
      'must be another flag',
    ],
    [
      'POST',
      `${STATE}/targeting-rules`,
      { ...rule, segment_id: 'none' },
      'segment_id',
      'must be the id or the key of a segment of this project',
    ],
    [
      'POST',
      `${STATE}/targeting-rules`,
      { ...rule, variation_id: 'true' },
      'variation_id',
      NO_VARIATION,
    ],
    [
      'POST',
      `${STATE}/rollouts`,
      { ...rollout, variation_id: 'true' },
      'variation_id',
      NO_VARIATION,
    ],
    [
      'POST',
      `${STATE}/rollouts`,
      { ...split, variants: [{ variation_id: 'true', weight: 1 }] },
      'variants.0.variation_id',
      NO_VARIATION,
    ],
    [
      'POST',
      '/projects/shop/envs',
      { key: 'copy', copy_from: 'none' },
      'copy_from',
      'must be the id or the key of an environment of this project',
    ],
    [
      'POST',
      '/projects/shop/flags/secret-flag/promote',
      { from_env_id: 'live', to_env_id: 'none' },
      'to_env_id',
      'must be the id or the key of an environment of this project',
    ],
    [
      'PUT',
      STATE,
      { default_variation_id: 'a b' },
      'default_variation_id',
      expect.stringMatching(/^must be an id or a key/),
    ],
  ]

  it.each(refused)('%s %s with %j is refused and changes nothing', async (...row) => {
    const [method, address, body, path, message] = row
    const before = await tracesOf(scene)
    const { status, data } = await send(method, address, body)
    expect([status, data.issues]).toEqual([400, [{ path, message }]])
    expect(await tracesOf(scene)).toEqual(before)
  })

  it('A variation that is named by its id and by its key counts as listed twice', async () => {
    const both = [
      { variation_id: 'a', weight: 1 },
      { variation_id: ids['a'], weight: 1 },
    ]
    const answer = await send('POST', `${STATE}/rollouts`, { ...split, variants: both })
    expect(answer.data.issues[0].path).toBe('variants.1.variation_id')
    const twice = [{ flag_id: 'other', variation_ids: ['true', ids['true']] }]
    const state = await send('PUT', STATE, { prerequisites: twice })
    expect(state.data.issues[0].path).toBe('prerequisites.0.variation_ids.1')
    const flags = [prerequisites[0], byId(prerequisites[0])]
    const doubled = await send('PUT', STATE, { prerequisites: flags })
    expect(doubled.data.issues[0].path).toBe('prerequisites.1.flag_id')
  })

  it('A body with the key of a variation that the flag already has changes nothing', async () => {
    const { revision } = await done('PUT', STATE, { default_variation_id: ids['b'] })
    const before = await tracesOf(scene)
    expect((await done('PUT', STATE, { default_variation_id: 'b' })).revision).toBe(revision)
    expect(await tracesOf(scene)).toEqual(before)
  })

  it('Environments in bodies can be named by their keys', async () => {
    const copy = await done('POST', '/projects/shop/envs', { key: 'copy', copy_from: 'live' })
    expect(copy.key).toBe('copy')
    await done('PUT', STATE, { is_active: false })
    const promote = '/projects/shop/flags/secret-flag/promote'
    const promoted = await done('POST', promote, { from_env_id: 'live', to_env_id: 'copy' })
    expect(promoted).toMatchObject({
      applied: true,
      differences: [{ after: { is_active: false } }],
    })
    const same = await send('POST', promote, { from_env_id: 'live', to_env_id: ids['live'] })
    expect([same.status, same.data.issues[0].path]).toEqual([400, 'to_env_id'])
  })

  it('In process, environments, flags and segments can be named by their keys', async () => {
    const management = inProcess()
    const project = { projectId: 'shop' }
    const flag = { ...project, flagId: 'secret-flag' }
    await management.createEnvironment({ params: project, body: { key: 'copy', copyFrom: 'live' } })
    const promotion = { fromEnvironmentId: 'live', toEnvironmentId: 'copy' }
    const promoted = await management.promoteFlag({ params: flag, body: promotion })
    expect(promoted.differences).toEqual([])
    const { data } = await management.listFlagSummaries({
      params: project,
      query: { environmentId: 'live' },
    })
    expect(data.map(({ key }) => key)).toContain('secret-flag')
    const segment = (await done('GET', '/projects/shop/segments')).data[0]
    const found = await management.getSegment({ params: { ...project, segmentId: segment.key } })
    expect(found.id).toBe(segment.id)
  })

  it('An old variation key in the form of a UUID is found if no id matches', async () => {
    const key = crypto.randomUUID()
    await scene.world.storage.update('variation', ids['b'] ?? '', { key })
    const state = await done('PUT', STATE, { default_variation_id: key })
    expect(state.default_variation_id).toBe(ids['b'])
    await scene.world.storage.update('variation', ids['b'] ?? '', { key: ids['a'] ?? '' })
    const byPrecedence = await done('PUT', STATE, { default_variation_id: ids['a'] })
    expect(byPrecedence.default_variation_id).toBe(ids['a'])
  })

  it('The keys of a scheduled body are looked up when the change is applied', async () => {
    const changes = `${STATE}/scheduled-changes`
    const change = { apply_at: '2030-06-01T00:00:00Z', operation: 'updateFlagState' }
    const refusedChange = await send('POST', changes, {
      ...change,
      body: { default_variation_id: 'true' },
    })
    expect(refusedChange.data.issues[0].path).toBe('body.default_variation_id')
    await done('POST', changes, { ...change, body: { default_variation_id: 'b' } })
    const { clock } = scene.world
    await clock.advance(Date.parse('2030-06-02T00:00:00Z') - clock.now())
    await scene.world.runJob('apply scheduled changes')
    expect((await done('GET', STATE)).default_variation_id).toBe(ids['b'])
  })

  it('Segments, flags and environments of other projects are not found by their keys', async () => {
    const { theirs, world } = scene
    const token = theirs.tokens.owner
    const call = (path: string, body: Json) => world.call('POST', path, { token, body })
    await call('/projects/shop/segments', { key: 'foreign' })
    await call('/projects/shop/envs', { key: 'foreign' })
    await call('/projects/shop/flags', { key: 'foreign', type: 'boolean' })
    const bodies: readonly (readonly [string, string, Json])[] = [
      ['POST', `${STATE}/targeting-rules`, { ...rule, segment_id: 'foreign' }],
      ['POST', '/projects/shop/envs', { key: 'copy', copy_from: 'foreign' }],
      ['PUT', STATE, { prerequisites: [{ ...prerequisites[0], flag_id: 'foreign' }] }],
    ]
    for (const [method, address, body] of bodies) {
      const unknown = JSON.parse(JSON.stringify(body).replace('foreign', 'unknown'))
      const answer = await send(method, address, body)
      expect([answer.status, answer.text]).toEqual([
        400,
        (await send(method, address, unknown)).text,
      ])
    }
  })
})
