import { isFlagError } from '@ff/core'
import { type EndpointName, endpoints, type Role } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import { createAccessToken } from '../../src/management/access-tokens.ts'
import { createEnvironment } from '../../src/management/environments.ts'
import type { Management } from '../../src/management/management.ts'
import { createOrganization } from '../../src/management/organizations.ts'
import { createProject } from '../../src/management/projects.ts'
import { createRollout } from '../../src/management/rollouts.ts'
import { createSdkKey } from '../../src/management/sdk-keys.ts'
import { createSegment } from '../../src/management/segments.ts'
import { type Json, type Tenant, World } from './world.ts'

const ROLES: readonly Role[] = ['platform', 'owner', 'admin', 'editor', 'viewer']
const EVERYBODY = new Set<Role>(ROLES)
const EDITORS = new Set<Role>(['platform', 'owner', 'admin', 'editor'])
const ADMINS = new Set<Role>(['platform', 'owner', 'admin'])
const PLATFORM = new Set<Role>(['platform'])

/** Who is meant to reach each endpoint: written here once more, so that a slip in the table shows. */
const MEANT: Readonly<Record<EndpointName, ReadonlySet<Role>>> = {
  listFlags: EVERYBODY,
  createFlag: EDITORS,
  getFlag: EVERYBODY,
  updateFlag: EDITORS,
  deleteFlag: EDITORS,
  listVariations: EVERYBODY,
  createVariation: EDITORS,
  reorderVariations: EDITORS,
  updateVariation: EDITORS,
  deleteVariation: EDITORS,
  getFlagState: EVERYBODY,
  updateFlagState: EDITORS,
  listTargetingRules: EVERYBODY,
  createTargetingRule: EDITORS,
  reorderTargetingRules: EDITORS,
  getTargetingRule: EVERYBODY,
  updateTargetingRule: EDITORS,
  deleteTargetingRule: EDITORS,
}

interface Scene {
  readonly world: World
  readonly mine: Tenant
  readonly theirs: Tenant
  /** Path parameters of things that belong to `mine`. */
  readonly params: Readonly<Record<string, string>>
  readonly bodies: Readonly<Partial<Record<EndpointName, Json>>>
}

async function createScene(): Promise<Scene> {
  const world = await World.create()
  const mine = await world.addTenant('Mine')
  const theirs = await world.addTenant('Theirs')
  const token = mine.tokens.owner
  const flags = `/projects/${mine.project.id}/flags`
  const variations = ['a', 'b'].map((key) => ({ key, value: key }))
  const body = { key: 'secret-flag', type: 'string', variations }
  const flag = (await world.call('POST', flags, { token, body })).data
  const state = `/projects/${mine.project.id}/envs/${mine.live.id}/flags/${flag.id}`
  const rule = (
    await world.call('POST', `${state}/targeting-rules`, { token, body: { name: 'r' } })
  ).data
  const params = {
    projectId: mine.project.id,
    envId: mine.live.id,
    flagId: flag.id,
    variationId: flag.variations[1].id,
    ruleId: rule.id,
  }
  const bodies = {
    createFlag: { key: 'new', type: 'boolean' },
    updateFlag: { name: 'changed' },
    createVariation: { key: 'c', value: 'c' },
    reorderVariations: { orders: [{ id: params.variationId, order_index: 9 }] },
    updateVariation: { value: 'changed' },
    updateFlagState: { is_active: false },
    createTargetingRule: { name: 'new' },
    reorderTargetingRules: { orders: [{ id: rule.id, order_index: 9 }] },
    updateTargetingRule: { name: 'changed' },
  }
  return { world, mine, theirs, params, bodies }
}

function ask({ world, params, bodies }: Scene, name: EndpointName, token: string | undefined) {
  const { method, path } = endpoints[name]
  const address = path.replace(/\{(\w+)\}/g, (_, param: string) => params[param] ?? '')
  return world.call(method, address, { token, body: bodies[name] })
}

/** Everything that a change would leave a trace in. */
async function tracesOf({ world, mine }: Scene): Promise<unknown> {
  return [await world.audit(), await world.version(mine.live), await world.version(mine.staging)]
}

describe('the endpoint table', () => {
  it.each(Object.keys(endpoints) as EndpointName[])(
    '%s is open to exactly the roles meant',
    async (name) => {
      for (const role of ROLES) {
        const scene = await createScene()
        const before = await tracesOf(scene)
        const answer = await ask(scene, name, scene.mine.tokens[role])
        const expected = MEANT[name].has(role) ? endpoints[name].status : 403
        expect([role, answer.status]).toEqual([role, expected])
        if (expected !== 403) continue
        expect(answer.data).toBe(null)
        expect(await tracesOf(scene)).toEqual(before)
      }
    },
  )

  it.each(Object.keys(endpoints) as EndpointName[])(
    '%s is unknown to another organization',
    async (name) => {
      const scene = await createScene()
      const before = await tracesOf(scene)
      for (const role of ROLES.filter((each) => each !== 'platform')) {
        const answer = await ask(scene, name, scene.theirs.tokens[role])
        expect(answer).toMatchObject({
          status: 404,
          message: 'There is no such project.',
          data: null,
        })
        const unknown = { ...scene, params: { ...scene.params, projectId: crypto.randomUUID() } }
        expect((await ask(unknown, name, scene.theirs.tokens[role])).text).toBe(answer.text)
      }
      expect(await tracesOf(scene)).toEqual(before)
    },
  )

  it.each(Object.keys(endpoints) as EndpointName[])(
    '%s answers 401 without a good token',
    async (name) => {
      const scene = await createScene()
      for (const token of [
        undefined,
        'x',
        `ffat_${'0'.repeat(64)}`,
        `ff_${'0'.repeat(64)}`,
        'a b',
      ]) {
        const answer = await ask(scene, name, token)
        expect(answer.status).toBe(401)
        expect(answer.headers['WWW-Authenticate']).toBe('Bearer')
        expect(answer.text).not.toContain('secret-flag')
      }
    },
  )

  it('finds nothing of mine through a path that begins with what is theirs', async () => {
    const scene = await createScene()
    const { theirs, params } = scene
    const others: readonly Scene['params'][] = [
      { ...params, projectId: theirs.project.id },
      { ...params, projectId: theirs.project.id, envId: theirs.live.id },
      { ...params, envId: theirs.live.id },
    ]
    const before = await tracesOf(scene)
    for (const name of Object.keys(endpoints) as EndpointName[]) {
      for (const changed of others) {
        if (name === 'listFlags' || name === 'createFlag') continue
        if (changed.projectId === params.projectId && !endpoints[name].path.includes('{envId}'))
          continue
        for (const token of [theirs.tokens.owner, theirs.tokens.platform]) {
          expect((await ask({ ...scene, params: changed }, name, token)).status).toBe(404)
        }
      }
    }
    expect(await tracesOf(scene)).toEqual(before)
  })

  it('gives every endpoint a permission, and no two the same method and path', () => {
    const rows = Object.values(endpoints)
    const addresses = rows.map(({ method, path }) => `${method} ${path}`)
    expect(new Set(addresses).size).toBe(rows.length)
    for (const { permission } of rows) expect(permission).toMatch(/^[a-z]+\.[a-z]+$/)
  })
})

describe('use cases without an endpoint', () => {
  type Run = (management: Management, scene: Scene) => Promise<unknown>
  const flagParams = ({ mine, params }: Scene) => {
    return {
      projectId: mine.project.id,
      environmentId: mine.live.id,
      flagId: params['flagId'] ?? '',
    }
  }
  const useCases: readonly [string, ReadonlySet<Role>, Run][] = [
    [
      'createProject',
      ADMINS,
      (management, { mine }) =>
        createProject(management, { params: { orgId: mine.orgId }, body: { key: 'p' } }),
    ],
    [
      'createEnvironment',
      ADMINS,
      (management, { mine }) =>
        createEnvironment(management, {
          params: { projectId: mine.project.id },
          body: { key: 'e' },
        }),
    ],
    [
      'createSdkKey',
      ADMINS,
      (management, scene) =>
        createSdkKey(management, {
          params: flagParams(scene),
          body: { name: 'k', kind: 'client' },
        }),
    ],
    [
      'createAccessToken',
      ADMINS,
      (management, { mine }) =>
        createAccessToken(management, {
          params: { orgId: mine.orgId },
          body: { name: 't', role: 'viewer' },
        }),
    ],
    [
      'createSegment',
      EDITORS,
      (management, { mine }) =>
        createSegment(management, { params: { projectId: mine.project.id }, body: { key: 's' } }),
    ],
    [
      'createRollout',
      EDITORS,
      (management, scene) => {
        const variationId = scene.params['variationId'] ?? ''
        const body = { name: 'r', strategy: 'percentage' as const, variationId, percentage: 1 }
        return createRollout(management, { params: flagParams(scene), body })
      },
    ],
  ]
  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'done',
      (error: unknown) => (isFlagError(error) ? error.code : error),
    )
  const as = ({ world }: Scene, role: Role, orgId: string | null): Management => {
    const actor = { id: 'somebody', email: 'a@b.test', name: 'Somebody', role, orgId }
    return { ...world.management, actor }
  }

  it.each(useCases)('%s is open to exactly the roles meant', async (_name, meant, run) => {
    const scene = await createScene()
    const before = await tracesOf(scene)
    for (const role of ROLES) {
      if (role === 'platform') continue
      expect(await codeOf(run(as(scene, role, scene.theirs.orgId), scene))).toBe('NOT_FOUND')
      if (meant.has(role)) continue
      expect(await codeOf(run(as(scene, role, scene.mine.orgId), scene))).toBe('FORBIDDEN')
    }
    expect(await tracesOf(scene)).toEqual(before)
    for (const role of meant) {
      const fresh = await createScene()
      const own = role === 'platform' ? null : fresh.mine.orgId
      expect(await codeOf(run(as(fresh, role, own), fresh))).toBe('done')
    }
  })

  it('only the platform founds organizations and issues tokens of its own role', async () => {
    const scene = await createScene()
    for (const role of ROLES) {
      const management = as(scene, role, role === 'platform' ? null : scene.mine.orgId)
      const expected = PLATFORM.has(role) ? 'done' : 'FORBIDDEN'
      const founding = createOrganization(management, { body: { name: 'New' } })
      expect(await codeOf(founding)).toBe(expected)
      const body = { name: 't', role: 'platform' as const }
      const issuing = createAccessToken(management, { params: { orgId: null }, body })
      expect(await codeOf(issuing)).toBe(expected)
    }
  })

  it('nobody issues a token above their own role', async () => {
    const scene = await createScene()
    const params = { orgId: scene.mine.orgId }
    const issue = (by: Role, role: Role) =>
      codeOf(
        createAccessToken(as(scene, by, scene.mine.orgId), { params, body: { name: 't', role } }),
      )
    expect(await issue('admin', 'owner')).toBe('FORBIDDEN')
    expect(await issue('admin', 'admin')).toBe('done')
    expect(await issue('owner', 'owner')).toBe('done')
    expect(await issue('owner', 'platform')).toBe('INVALID_REQUEST')
    expect(await issue('editor', 'viewer')).toBe('FORBIDDEN')
  })
})
