import { isFlagError } from '@ff/core'
import { bool, defineFlags } from '@ff/core/flag-types'
import { type EndpointName, type Environment, endpoints } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { addressOf, ask, createScene, NAMES, type Scene, tracesOf } from '../world/scene.ts'
import { addressesOf, type Json, SYSTEM_ACTOR } from '../world/world.ts'

const HEADERS = { 'x-ff-comment': 'Because' }
/** The endpoints that require a comment if the environments of their project require comments. */
const CONFIGURATION: readonly EndpointName[] = [
  'createFlag',
  'updateFlag',
  'deleteFlag',
  'createVariation',
  'reorderVariations',
  'updateVariation',
  'deleteVariation',
  'updateFlagState',
  'updateFlagConfiguration',
  'createTargetingRule',
  'reorderTargetingRules',
  'updateTargetingRule',
  'deleteTargetingRule',
  'createRollout',
  'updateRollout',
  'deleteRollout',
  'createScheduledChange',
  'deleteScheduledChange',
  'createSegment',
  'updateSegment',
  'deleteSegment',
  'changeSegmentKeys',
  'promoteFlag',
  'restoreVersion',
  // These delete the configuration of environments.
  'deleteEnvironment',
  'deleteProject',
  'deleteOrganization',
]

/** Creates a scene in which both environments require comments. */
async function createStrictScene(): Promise<Scene> {
  const scene = await createScene()
  const { world, mine, params } = scene
  const token = mine.tokens.owner
  // The rule of the scene changes, so that restoring version 1 has an effect.
  const rule = addressOf(scene, 'updateTargetingRule')
  await world.call('PUT', rule, { token, body: { conditions: [condition('pro')] } })
  for (const { id } of [mine.live, mine.staging]) {
    const address = addressOf({ ...scene, params: { ...params, envId: id } }, 'updateEnvironment')
    const { status } = await world.call('PUT', address, { token, body: { comment_required: true } })
    expect(status).toBe(200)
  }
  // The flag state of the scene is only switched off, which requires no comment.
  const configuration = addressOf(scene, 'getFlagConfiguration')
  const { data, headers } = await world.call('GET', configuration, { token })
  const bodies = {
    ...scene.bodies,
    updateFlagState: { targets: [], default_variation_id: 'b' },
    updateFlagConfiguration: { ...data, state: { ...data.state, default_variation_id: 'b' } },
  }
  const read = { 'if-match': headers['ETag'] ?? '' }
  return {
    ...scene,
    bodies,
    headers: { ...scene.headers, updateFlagConfiguration: read },
    params: { ...params, version: '2' },
  }
}

const condition = (value: string) => ({ attribute: 'user.plan', operator: 'eq', value })

describe('An environment that requires comments', () => {
  let scene: Scene
  let token: string

  beforeEach(async () => {
    scene = await createStrictScene()
    token = scene.mine.tokens.platform
  })

  const call = (method: string, address: string, body?: Json, headers = {}) =>
    scene.world.call(method, address, { token, body, headers })
  const environmentAt = ({ id }: Environment) =>
    addressOf({ ...scene, params: { ...scene.params, envId: id } }, 'updateEnvironment')
  const relax = (environment: Environment) =>
    call('PUT', environmentAt(environment), { comment_required: false })
  const stateAt = () => addressOf(scene, 'updateFlagState')

  function expectRequired(answer: Json, key = 'live'): void {
    expect(answer.status).toBe(400)
    expect(answer.message).toContain(`The environment "${key}" requires a comment`)
    expect(answer.data).toEqual({
      code: 'COMMENT_REQUIRED',
      environment: key,
      issues: [{ path: 'X-FF-Comment', message: `is required by the environment "${key}"` }],
    })
  }

  it.each(CONFIGURATION)('%s requires a comment there', async (name) => {
    const before = await tracesOf(scene)
    for (const headers of [{}, { 'x-ff-comment': '' }, { 'x-ff-comment': '%20' }]) {
      const answer = await ask(scene, name, token, headers)
      expectRequired(answer, answer.data.environment)
      expect(await tracesOf(scene)).toEqual(before)
    }
    expect((await ask(scene, name, token, HEADERS)).status).toBe(endpoints[name].status)
    expect(await tracesOf(scene)).not.toEqual(before)
  })

  it.each(NAMES.filter((name) => !CONFIGURATION.includes(name)))(
    '%s requires no comment there',
    async (name) => {
      expect((await ask(scene, name, token)).status).toBe(endpoints[name].status)
    },
  )

  it('The roles of all tokens need a comment, and calls in process too', async () => {
    for (const role of ['platform', 'owner', 'admin', 'editor'] as const) {
      expectRequired(await ask(scene, 'updateFlagState', scene.mine.tokens[role]))
    }
    const management = scene.world.as(SYSTEM_ACTOR)
    const { projectId = '', envId = '', flagId = '' } = scene.params
    const params = { projectId, environmentId: envId, flagId }
    const input = { params, body: { targets: [], defaultVariationId: null, offVariationId: null } }
    const error = await management.updateFlagState(input).catch((thrown: unknown) => thrown)
    if (!isFlagError(error)) throw new Error('The change must be refused.')
    expect([error.code, error.details?.['code']]).toEqual(['INVALID_REQUEST', 'COMMENT_REQUIRED'])
    await management.updateFlagState({ ...input, comment: 'In process' })
  })

  it('Switching a flag off needs no comment, and switching it on does', async () => {
    const state = await call('PUT', stateAt(), { is_active: false })
    expect([state.status, state.data.is_active]).toEqual([200, false])
    const off = (await scene.world.audit()).findLast(({ eventType }) => {
      return eventType === 'flag_state.updated'
    })
    expect(off?.comment).toBeNull()
    expectRequired(await call('PUT', stateAt(), { is_active: true }))
    expect((await call('PUT', stateAt(), { is_active: true }, HEADERS)).status).toBe(200)
    // The whole record, as a client reads it, with one difference.
    const { data: record } = await call('GET', stateAt())
    expect((await call('PUT', stateAt(), { ...record, is_active: false })).status).toBe(200)
  })

  it('Switching a flag off together with another change needs a comment', async () => {
    expectRequired(await call('PUT', stateAt(), { is_active: false, default_variation_id: 'b' }))
    expect((await call('GET', stateAt())).data.is_active).toBe(true)
  })

  it('A request that changes nothing, and a dry run, need no comment', async () => {
    const { data: record } = await call('GET', stateAt())
    expect((await call('PUT', stateAt(), record)).status).toBe(200)
    const promotion = { ...(scene.bodies.promoteFlag as Json), dry_run: true }
    expect((await call('POST', addressOf(scene, 'promoteFlag'), promotion)).status).toBe(200)
  })

  it('A promotion that only switches the flag off needs no comment', async () => {
    const promote = addressOf(scene, 'promoteFlag')
    expect((await call('POST', promote, scene.bodies.promoteFlag, HEADERS)).status).toBe(200)
    await call('PUT', stateAt(), { is_active: false })
    const again = await call('POST', promote, scene.bodies.promoteFlag)
    expect([again.status, again.data.applied]).toEqual([200, true])
  })

  it('Only the environment whose configuration changes needs to require the comment', async () => {
    await relax(scene.mine.live)
    expect((await ask(scene, 'updateFlagState', token)).status).toBe(200)
    expectRequired(await ask(scene, 'promoteFlag', token), 'staging')
    // A flag has a state in every environment, and so does a change of the flag itself.
    expectRequired(await ask(scene, 'updateFlag', token), 'staging')
    await relax(scene.mine.staging)
    expect((await ask(scene, 'updateFlag', token)).status).toBe(200)
  })

  it('The setting is changed without a comment, and the audit log contains the change', async () => {
    const on = environmentAt(scene.mine.live)
    expect((await relax(scene.mine.live)).data.comment_required).toBe(false)
    expect((await call('PUT', on, { comment_required: true })).data.comment_required).toBe(true)
    const events = (await scene.world.audit()).filter(({ eventType, streamId }) => {
      return eventType === 'environment.updated' && streamId.endsWith(scene.mine.live.id)
    })
    const values = events
      .slice(-2)
      .map(({ payload }) => [
        (payload as Json).before.comment_required,
        (payload as Json).after.comment_required,
      ])
    expect(values).toEqual([
      [true, false],
      [false, true],
    ])
  })

  it('A new environment with the setting needs no comment, and its changes do', async () => {
    const body = { key: 'strict', comment_required: true, copy_from: 'live' }
    const environments = addressOf(scene, 'createEnvironment')
    const { status, data } = await call('POST', environments, body)
    expect([status, data.comment_required]).toEqual([201, true])
    const { live } = addressesOf({ ...scene.mine, live: data })
    const body2 = { default_variation_id: 'b' }
    expectRequired(await call('PUT', live(scene.params['flagId'] ?? ''), body2), 'strict')
  })

  it('A repeated request returns its result without a comment', async () => {
    const headers = { 'idempotency-key': 'k', ...HEADERS }
    const first = await ask(scene, 'createFlag', token, headers)
    const again = await ask(scene, 'createFlag', token, { 'idempotency-key': 'k' })
    expect([again.status, again.text]).toEqual([201, first.text])
  })

  it('A program can define its flags, with a comment that it chooses or the default', async () => {
    const management = scene.world.as(SYSTEM_ACTOR)
    const define = (key: string, comment?: string) => {
      const flags = defineFlags({ [key]: bool(false) })
      const { orgId } = scene.mine
      return management.ensureProject({ key: 'shop', orgId, flags, comment })
    }
    await define('by-default')
    await define('chosen', 'Release 7')
    const created = (await scene.world.audit()).filter(({ eventType, payload }) => {
      const { key } = (payload as Json).after ?? {}
      return eventType === 'flag.created' && (key === 'by-default' || key === 'chosen')
    })
    expect(created.map(({ comment }) => comment)).toEqual([
      'Defined by a program that uses the flags.',
      'Release 7',
    ])
  })
})

describe('A scheduled change in an environment that requires comments', () => {
  let scene: Scene
  let token: string

  beforeEach(async () => {
    scene = await createStrictScene()
    token = scene.mine.tokens.editor
  })

  const change = { operation: 'updateFlagState', body: { default_variation_id: 'b' } }
  const schedule = (headers: Readonly<Record<string, string>>) => {
    const apply_at = new Date(scene.world.clock.now() + 60_000).toISOString()
    const address = addressOf(scene, 'createScheduledChange')
    return scene.world.call('POST', address, { token, headers, body: { ...change, apply_at } })
  }
  async function applyDue(): Promise<Json> {
    await scene.world.clock.advance(120_000)
    await scene.world.runJob('apply scheduled changes')
    const address = `${addressOf(scene, 'listScheduledChanges')}?limit=100`
    return (await scene.world.call('GET', address, { token })).data.data
  }
  const newest = async () =>
    (await scene.world.audit()).findLast(({ eventType }) => eventType === 'flag_state.updated')

  it('The comment is stored with the change, and is that of the applied change', async () => {
    const { status, data } = await schedule(HEADERS)
    expect([status, data.comment]).toEqual([201, 'Because'])
    const applied = (await applyDue()).find(({ id }: Json) => id === data.id)
    expect([applied.status, applied.failure]).toEqual(['applied', null])
    expect((await newest())?.comment).toBe('Because')
  })

  it('A change without a comment is applied if the setting was turned on afterwards', async () => {
    const environment = addressOf(scene, 'updateEnvironment')
    const owner = scene.mine.tokens.owner
    const turn = (comment_required: boolean) =>
      scene.world.call('PUT', environment, { token: owner, body: { comment_required } })
    await turn(false)
    const { data } = await schedule({})
    expect(data.comment).toBeNull()
    await turn(true)
    const applied = (await applyDue()).find(({ id }: Json) => id === data.id)
    expect([applied.status, applied.failure]).toEqual(['applied', null])
    expect((await newest())?.comment).toBeNull()
  })

  it('The failure of a scheduled change is stored without a comment', async () => {
    const { data } = await schedule(HEADERS)
    await scene.world.storage.update('accessToken', await editorId(), { role: 'viewer' })
    const failed = (await applyDue()).find(({ id }: Json) => id === data.id)
    expect(failed.status).toBe('failed')
  })

  async function editorId(): Promise<string> {
    const { data } = await scene.world.storage.list('accessToken', {
      where: { orgId: scene.mine.orgId, name: 'Mine editor' },
    })
    return data[0]?.id ?? ''
  }
})
