import { isFlagError } from '@ff/core'
import { type EndpointName, endpoints, type Role } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import type { ManagementUseCases } from '../../src/api/use-cases.ts'
import { GUARDED, PERSONAL } from '../world/refusals.ts'
import { ask, byKey, createScene, IN_PROJECT, NAMES, type Scene, tracesOf } from '../world/scene.ts'
import type { Answer, Json } from '../world/world.ts'

const ROLES: readonly Role[] = ['platform', 'owner', 'admin', 'editor', 'viewer']
const ALL_ROLES = new Set<Role>(ROLES)
const EDITORS = new Set<Role>(['platform', 'owner', 'admin', 'editor'])
const ADMINS = new Set<Role>(['platform', 'owner', 'admin'])
const OWNERS = new Set<Role>(['platform', 'owner'])
const PLATFORM = new Set<Role>(['platform'])

/**
 * The roles that are allowed to call each endpoint. They are repeated here to detect mistakes in
 * the table.
 */
const MEANT: Readonly<Record<EndpointName, ReadonlySet<Role>>> = {
  listOrganizations: ALL_ROLES,
  createOrganization: PLATFORM,
  getOrganization: ALL_ROLES,
  updateOrganization: ADMINS,
  deleteOrganization: OWNERS,
  getOrganizationUsage: ALL_ROLES,
  setOrganizationPlan: PLATFORM,
  listInvoices: OWNERS,
  createCheckout: OWNERS,
  receiveStripeEvent: ALL_ROLES,
  listMembers: ALL_ROLES,
  addMember: ADMINS,
  updateMember: ADMINS,
  removeMember: ADMINS,
  logIn: ALL_ROLES,
  logOut: ALL_ROLES,
  getLogIn: ALL_ROLES,
  getLogInMethods: ALL_ROLES,
  changePassword: ALL_ROLES,
  startOidcLogIn: ALL_ROLES,
  finishOidcLogIn: ALL_ROLES,
  listAccessTokens: ALL_ROLES,
  createAccessToken: ADMINS,
  deleteAccessToken: ADMINS,
  listProjects: ALL_ROLES,
  createProject: ADMINS,
  getProject: ALL_ROLES,
  updateProject: ADMINS,
  deleteProject: ADMINS,
  listEnvironments: ALL_ROLES,
  createEnvironment: ADMINS,
  getEnvironment: ALL_ROLES,
  updateEnvironment: ADMINS,
  deleteEnvironment: ADMINS,
  listSdkKeys: ALL_ROLES,
  createSdkKey: ADMINS,
  revokeSdkKey: ADMINS,
  rotateSdkKey: ADMINS,
  listFlags: ALL_ROLES,
  listFlagSummaries: ALL_ROLES,
  createFlag: EDITORS,
  getFlag: ALL_ROLES,
  updateFlag: EDITORS,
  deleteFlag: EDITORS,
  listVariations: ALL_ROLES,
  createVariation: EDITORS,
  reorderVariations: EDITORS,
  updateVariation: EDITORS,
  deleteVariation: EDITORS,
  getFlagState: ALL_ROLES,
  updateFlagState: EDITORS,
  getFlagConfiguration: ALL_ROLES,
  updateFlagConfiguration: EDITORS,
  listTargetingRules: ALL_ROLES,
  createTargetingRule: EDITORS,
  reorderTargetingRules: EDITORS,
  getTargetingRule: ALL_ROLES,
  updateTargetingRule: EDITORS,
  deleteTargetingRule: EDITORS,
  listRollouts: ALL_ROLES,
  createRollout: EDITORS,
  getRollout: ALL_ROLES,
  updateRollout: EDITORS,
  deleteRollout: EDITORS,
  listScheduledChanges: ALL_ROLES,
  createScheduledChange: EDITORS,
  deleteScheduledChange: EDITORS,
  listSegments: ALL_ROLES,
  createSegment: EDITORS,
  getSegment: ALL_ROLES,
  updateSegment: EDITORS,
  deleteSegment: EDITORS,
  changeSegmentKeys: EDITORS,
  listVersions: ALL_ROLES,
  getVersion: ALL_ROLES,
  restoreVersion: EDITORS,
  explainEvaluation: ALL_ROLES,
  promoteFlag: EDITORS,
  listPlans: ALL_ROLES,
  createPlan: PLATFORM,
  getPlan: ALL_ROLES,
  updatePlan: PLATFORM,
  deletePlan: PLATFORM,
  listAuditLog: ALL_ROLES,
  verifyAuditLog: ALL_ROLES,
  exportAuditLog: ALL_ROLES,
  getFlagMetrics: ALL_ROLES,
  listObservedContexts: ALL_ROLES,
  forgetObservedContexts: ADMINS,
  getConvergence: ALL_ROLES,
  previewChanges: ALL_ROLES,
  streamProjectEvents: ALL_ROLES,
  listWebhooks: ALL_ROLES,
  createWebhook: ADMINS,
  getWebhook: ALL_ROLES,
  updateWebhook: ADMINS,
  deleteWebhook: ADMINS,
  listWebhookDeliveries: ALL_ROLES,
}

/** The endpoints with paths that cannot contain an id of another organization. */
const WITHOUT_FOREIGN_ID = new Set<EndpointName>([
  ...PERSONAL,
  'listOrganizations',
  'createOrganization',
  'listPlans',
  'createPlan',
  'getPlan',
  'updatePlan',
  'deletePlan',
])

let untouched: Promise<Scene> | undefined

/** Returns a scene that tests with refused requests share. */
function untouchedScene(): Promise<Scene> {
  untouched ??= createScene()
  return untouched
}

/**
 * Expects exactly the roles of an endpoint to be permitted, and the requests of the others to have no
 * effect. The refused requests, which come first, share a scene.
 */
async function expectRoles(
  name: EndpointName,
  request: (scene: Scene, role: Role) => Promise<Answer>,
): Promise<void> {
  const isMeant = (role: Role) => MEANT[name].has(role)
  let scene = await createScene()
  const before = await tracesOf(scene)
  for (const role of ROLES.filter((each) => !isMeant(each))) {
    const { status, data } = await request(scene, role)
    expect([role, status, data]).toEqual([role, 403, null])
    expect(await tracesOf(scene)).toEqual(before)
  }
  for (const role of ROLES.filter(isMeant)) {
    expect([role, (await request(scene, role)).status]).toEqual([role, endpoints[name].status])
    if (endpoints[name].method !== 'GET') scene = await createScene()
  }
}

describe('The endpoint table', () => {
  it.each(NAMES)('%s is permitted for exactly the expected roles', async (name) => {
    await expectRoles(name, (scene, role) => ask(scene, name, scene.mine.tokens[role]))
  })

  it.each(IN_PROJECT)(
    '%s with keys in its path is permitted for exactly the expected roles',
    async (name) => {
      await expectRoles(name, (scene, role) => {
        const { tokens, orgId } = scene.mine
        // Both organizations have a project with the same key.
        return ask(byKey(scene), name, tokens[role], { 'x-ff-organization': orgId })
      })
    },
  )

  it.each(NAMES.filter((name) => !WITHOUT_FOREIGN_ID.has(name)))(
    '%s returns 404 to members of another organization',
    async (name) => {
      const scene = await untouchedScene()
      const before = await tracesOf(scene)
      for (const role of ROLES.filter((each) => each !== 'platform')) {
        const answer = await ask(scene, name, scene.theirs.tokens[role])
        expect(answer).toMatchObject({
          status: 404,
          message: expect.stringMatching(
            /^There is no such (project|organization|environment|flag)\.$/,
          ),
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

  it.each(GUARDED)('%s returns 401 without a valid token', async (name) => {
    const scene = await untouchedScene()
    for (const token of [undefined, 'x', `ffat_${'0'.repeat(64)}`, `ff_${'0'.repeat(64)}`, 'a b']) {
      const answer = await ask(scene, name, token)
      expect(answer.status).toBe(401)
      expect(answer.headers['WWW-Authenticate']).toBe('Bearer')
      expect(answer.text).not.toContain('secret-flag')
    }
  })

  it('Records are not found through a path of another organization', async () => {
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
        // The path must contain ids of both organizations.
        if (!inPath.some(isMine) || inPath.every(isMine)) continue
        for (const token of [theirs.tokens.owner, theirs.tokens.platform]) {
          const { status } = await ask({ ...scene, params: changed }, name, token)
          expect([name, status]).toEqual([name, 404])
        }
      }
    }
    expect(await tracesOf(scene)).toEqual(before)
  })

  it('Members can list only their own organization, and the platform lists all', async () => {
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

  it('Every endpoint has a permission and a unique method and path', () => {
    const rows = Object.values(endpoints)
    const addresses = rows.map(({ method, path }) => `${method} ${path}`)
    expect(new Set(addresses).size).toBe(rows.length)
    for (const { permission } of rows)
      expect(permission).toMatch(/^([a-z]+\.[a-z]+|anyone|oneself)$/)
  })
})

describe('Use cases in process', () => {
  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'done',
      (error: unknown) => (isFlagError(error) ? error.code : error),
    )
  const as = ({ world }: Scene, role: Role, orgId: string | null): ManagementUseCases => {
    return world.as({ id: 'somebody', email: 'a@b.test', name: 'Somebody', role, orgId })
  }

  it('Only the platform creates organizations and issues tokens with the role platform', async () => {
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

  it('An actor cannot issue a token with a role above its own', async () => {
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

  it('The id of the own organization does not grant access to a project of another organization', async () => {
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
