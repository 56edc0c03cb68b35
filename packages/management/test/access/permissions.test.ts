import { isFlagError } from '@ff/core'
import { type EndpointName, endpoints, type Role } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import type { ManagementUseCases } from '../../src/create-management.ts'
import { GUARDED, PERSONAL } from '../world/refusals.ts'
import { ask, createScene, NAMES, type Scene, tracesOf } from '../world/scene.ts'
import type { Json } from '../world/world.ts'

const ROLES: readonly Role[] = ['platform', 'owner', 'admin', 'editor', 'viewer']
const EVERYBODY = new Set<Role>(ROLES)
const EDITORS = new Set<Role>(['platform', 'owner', 'admin', 'editor'])
const ADMINS = new Set<Role>(['platform', 'owner', 'admin'])
const OWNERS = new Set<Role>(['platform', 'owner'])
const PLATFORM = new Set<Role>(['platform'])

/** Who is meant to reach each endpoint: written here once more, so that a slip in the table shows. */
const MEANT: Readonly<Record<EndpointName, ReadonlySet<Role>>> = {
  listOrganizations: EVERYBODY,
  createOrganization: PLATFORM,
  getOrganization: EVERYBODY,
  updateOrganization: ADMINS,
  deleteOrganization: OWNERS,
  getOrganizationUsage: EVERYBODY,
  setOrganizationPlan: PLATFORM,
  listInvoices: OWNERS,
  createCheckout: OWNERS,
  receiveStripeEvent: EVERYBODY,
  listMembers: EVERYBODY,
  addMember: ADMINS,
  updateMember: ADMINS,
  removeMember: ADMINS,
  logIn: EVERYBODY,
  logOut: EVERYBODY,
  getLogIn: EVERYBODY,
  changePassword: EVERYBODY,
  startOidcLogIn: EVERYBODY,
  finishOidcLogIn: EVERYBODY,
  listAccessTokens: EVERYBODY,
  createAccessToken: ADMINS,
  deleteAccessToken: ADMINS,
  listProjects: EVERYBODY,
  createProject: ADMINS,
  getProject: EVERYBODY,
  updateProject: ADMINS,
  deleteProject: ADMINS,
  listEnvironments: EVERYBODY,
  createEnvironment: ADMINS,
  getEnvironment: EVERYBODY,
  updateEnvironment: ADMINS,
  deleteEnvironment: ADMINS,
  listSdkKeys: EVERYBODY,
  createSdkKey: ADMINS,
  revokeSdkKey: ADMINS,
  rotateSdkKey: ADMINS,
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
  listRollouts: EVERYBODY,
  createRollout: EDITORS,
  getRollout: EVERYBODY,
  updateRollout: EDITORS,
  deleteRollout: EDITORS,
  listScheduledChanges: EVERYBODY,
  createScheduledChange: EDITORS,
  deleteScheduledChange: EDITORS,
  listSegments: EVERYBODY,
  createSegment: EDITORS,
  getSegment: EVERYBODY,
  updateSegment: EDITORS,
  deleteSegment: EDITORS,
  changeSegmentKeys: EDITORS,
  listVersions: EVERYBODY,
  getVersion: EVERYBODY,
  restoreVersion: EDITORS,
  explainEvaluation: EVERYBODY,
  promoteFlag: EDITORS,
  listPlans: EVERYBODY,
  createPlan: PLATFORM,
  getPlan: EVERYBODY,
  updatePlan: PLATFORM,
  deletePlan: PLATFORM,
  listAuditLog: EVERYBODY,
  verifyAuditLog: EVERYBODY,
  exportAuditLog: EVERYBODY,
  getFlagMetrics: EVERYBODY,
  listObservedContexts: EVERYBODY,
  forgetObservedContexts: ADMINS,
  getConvergence: EVERYBODY,
  listWebhooks: EVERYBODY,
  createWebhook: ADMINS,
  getWebhook: EVERYBODY,
  updateWebhook: ADMINS,
  deleteWebhook: ADMINS,
  listWebhookDeliveries: EVERYBODY,
}

/** Those whose paths name nothing that could be another's. */
const NAMING_NOBODY = new Set<EndpointName>([
  ...PERSONAL,
  'listOrganizations',
  'createOrganization',
  'listPlans',
  'createPlan',
  'getPlan',
  'updatePlan',
  'deletePlan',
])

describe('the endpoint table', () => {
  it.each(NAMES)('%s is open to exactly the roles meant', async (name) => {
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
  })

  it.each(NAMES.filter((name) => !NAMING_NOBODY.has(name)))(
    '%s is unknown to another organization',
    async (name) => {
      const scene = await createScene()
      const before = await tracesOf(scene)
      for (const role of ROLES.filter((each) => each !== 'platform')) {
        const answer = await ask(scene, name, scene.theirs.tokens[role])
        expect(answer).toMatchObject({
          status: 404,
          message: expect.stringMatching(/^There is no such (project|organization|environment)\.$/),
          data: null,
        })
        const nowhere = Object.fromEntries(
          ['projectId', 'orgId', 'envId'].map((param) => [param, crypto.randomUUID()]),
        )
        const unknown = { ...scene, params: { ...scene.params, ...nowhere } }
        expect((await ask(unknown, name, scene.theirs.tokens[role])).text).toBe(answer.text)
      }
      expect(await tracesOf(scene)).toEqual(before)
    },
  )

  it.each(GUARDED)('%s answers 401 without a good token', async (name) => {
    const scene = await createScene()
    for (const token of [undefined, 'x', `ffat_${'0'.repeat(64)}`, `ff_${'0'.repeat(64)}`, 'a b']) {
      const answer = await ask(scene, name, token)
      expect(answer.status).toBe(401)
      expect(answer.headers['WWW-Authenticate']).toBe('Bearer')
      expect(answer.text).not.toContain('secret-flag')
    }
  })

  it('finds nothing of mine through a path that begins with what is theirs', async () => {
    const scene = await createScene()
    const { theirs, params } = scene
    const { project, live, orgId } = theirs
    const others: readonly Scene['params'][] = [
      { ...params, orgId, projectId: project.id },
      { ...params, orgId, projectId: project.id, envId: live.id },
      { ...params, envId: live.id },
    ]
    const before = await tracesOf(scene)
    for (const name of NAMES) {
      const inPath = [...endpoints[name].path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param)
      for (const changed of others) {
        const isMine = (param: string) => changed[param] === params[param]
        // Such a path names nothing of mine any more, or nothing of theirs.
        if (!inPath.some(isMine) || inPath.every(isMine)) continue
        for (const token of [theirs.tokens.owner, theirs.tokens.platform]) {
          const { status } = await ask({ ...scene, params: changed }, name, token)
          expect([name, status]).toEqual([name, 404])
        }
      }
    }
    expect(await tracesOf(scene)).toEqual(before)
  })

  it('lists organizations to their own people, and to the platform all of them', async () => {
    const { world, mine, theirs } = await createScene()
    const idsFor = async (token: string, query = '') => {
      const { data } = await world.call('GET', `/organizations${query}`, { token })
      expect(data.meta.total).toBe(data.data.length)
      return data.data.map(({ id }: Json) => id)
    }
    for (const query of ['', '?limit=100', '?search=i', `?search=${mine.orgId}`]) {
      for (const role of ROLES.filter((each) => each !== 'platform')) {
        expect(await idsFor(theirs.tokens[role], query)).not.toContain(mine.orgId)
      }
    }
    expect(await idsFor(theirs.tokens.viewer)).toEqual([theirs.orgId])
    expect(await idsFor(theirs.tokens.viewer, '?search=Mine')).toEqual([])
    expect(await idsFor(theirs.tokens.platform)).toEqual([mine.orgId, theirs.orgId])
  })

  it('gives every endpoint a permission, and no two the same method and path', () => {
    const rows = Object.values(endpoints)
    const addresses = rows.map(({ method, path }) => `${method} ${path}`)
    expect(new Set(addresses).size).toBe(rows.length)
    for (const { permission } of rows)
      expect(permission).toMatch(/^([a-z]+\.[a-z]+|anyone|oneself)$/)
  })
})

describe('use cases in process', () => {
  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'done',
      (error: unknown) => (isFlagError(error) ? error.code : error),
    )
  const as = ({ world }: Scene, role: Role, orgId: string | null): ManagementUseCases => {
    return world.as({ id: 'somebody', email: 'a@b.test', name: 'Somebody', role, orgId })
  }

  it('only the platform founds organizations and issues tokens of its own role', async () => {
    const scene = await createScene()
    for (const role of ROLES) {
      const management = as(scene, role, role === 'platform' ? null : scene.mine.orgId)
      const expected = PLATFORM.has(role) ? 'done' : 'FORBIDDEN'
      const founding = management.createOrganization({ body: { name: 'New' } })
      expect(await codeOf(founding)).toBe(expected)
      const body = { name: 't', role: 'platform' as const }
      const issuing = management.createAccessToken({ params: { orgId: null }, body })
      expect(await codeOf(issuing)).toBe(expected)
    }
  })

  it('nobody issues a token above their own role', async () => {
    const scene = await createScene()
    const params = { orgId: scene.mine.orgId }
    const issue = (by: Role, role: Role) =>
      codeOf(
        as(scene, by, scene.mine.orgId).createAccessToken({ params, body: { name: 't', role } }),
      )
    expect(await issue('admin', 'owner')).toBe('FORBIDDEN')
    expect(await issue('admin', 'admin')).toBe('done')
    expect(await issue('owner', 'owner')).toBe('done')
    expect(await issue('owner', 'platform')).toBe('INVALID_REQUEST')
    expect(await issue('editor', 'viewer')).toBe('FORBIDDEN')
  })

  it('An id of the own organization beside that of another organization’s project opens nothing.', async () => {
    const scene = await createScene()
    const owner = as(scene, 'owner', scene.mine.orgId)
    const { project, live } = scene.theirs
    const ids = { orgId: scene.mine.orgId, projectId: project.id, environmentId: live.id }
    const body = { name: 'key', kind: 'server' as const }
    expect(await codeOf(owner.createSdkKey({ params: ids, body }))).toBe('NOT_FOUND')
    expect(await codeOf(owner.getEnvironment({ params: ids }))).toBe('NOT_FOUND')
    expect(await codeOf(owner.updateProject({ params: ids, body: { name: 'x' } }))).toBe(
      'NOT_FOUND',
    )
  })
})
