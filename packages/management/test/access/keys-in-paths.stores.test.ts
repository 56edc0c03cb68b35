import { endpoints } from '@ff/protocol/management'
import { memory, type Storage, type StorageSession } from '@ff/storage'
import { beforeEach, describe, expect, it } from 'vitest'
import { LogInWorld, PASSWORD } from '../world/log-in-world.ts'
import { paramsIn, READS } from '../world/refusals.ts'
import {
  ask,
  byKey,
  createScene,
  IN_PROJECT,
  KEYS,
  NAMES,
  type Scene,
  tracesOf,
} from '../world/scene.ts'
import { stores } from '../world/stores.ts'
import { type Answer, type Json, type Tenant, World } from '../world/world.ts'

const READS_IN_PROJECT = READS.filter((name) => IN_PROJECT.includes(name))
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** Returns every non-empty selection of `names`. */
function selections(names: readonly string[]): readonly string[][] {
  return names.flatMap((name, index) => {
    return [[name], ...selections(names.slice(index + 1)).map((rest) => [name, ...rest])]
  })
}

/** Replaces ids and random texts, so that the responses of two scenes can be compared. */
function withoutRandomness(value: unknown): string {
  const numbers = new Map<string, number>()
  return (
    JSON.stringify(value)
      .replace(UUID, (id) => {
        numbers.set(id, numbers.get(id) ?? numbers.size)
        return `id ${numbers.get(id)}`
      })
      .replace(/ff(at)?_[0-9a-f]+/g, 'secret')
      .replace(/[0-9a-f]{64}/g, 'hash')
      .replace(/"salt":"\w+"/g, '"salt":""')
      // The revision of a configuration is a hash of its parts.
      .replace(/"revision":\d{6,}/g, '"revision":0')
      .replace(/"ranges":\[[^\]]*\]/g, '"ranges":[]')
  )
}

describe('Paths with keys', () => {
  it.each(IN_PROJECT)('%s does the same with keys as with ids', async (name) => {
    const outcomes: string[] = []
    for (const form of [(scene: Scene) => scene, byKey]) {
      const scene = await createScene()
      const { status, data } = await ask(form(scene), name, scene.mine.tokens.admin)
      expect(status).toBe(endpoints[name].status)
      const events = (await scene.world.audit()).filter(({ orgId }) => orgId === scene.mine.orgId)
      const order = events.sort((a, b) => (a.id < b.id ? -1 : 1))
      const [, ...versions] = (await tracesOf(scene)) as readonly unknown[]
      outcomes.push(withoutRandomness([data, order, versions]))
    }
    expect(outcomes[1]).toBe(outcomes[0])
  })

  it.each(READS_IN_PROJECT)('%s accepts every mixture of ids and keys', async (name) => {
    const scene = await createScene()
    const token = scene.mine.tokens.viewer
    const expected = await ask(scene, name, token)
    for (const names of selections(paramsIn(name).filter((param) => param in KEYS))) {
      expect([names, (await ask(byKey(scene, names), name, token)).text]).toEqual([
        names,
        expected.text,
      ])
    }
  })

  it('No fixed segment of a path takes the place of a key', () => {
    const prefixes = NAMES.flatMap((name) => {
      const parts = endpoints[name].path.split('/')
      return parts.map((part, index) => ({ part, before: parts.slice(0, index).join('/') }))
    })
    const isKeyed = (part: string) => part.slice(1, -1) in KEYS
    for (const { part, before } of prefixes.filter((each) => isKeyed(each.part))) {
      if (!before.startsWith('/projects')) continue
      const siblings = prefixes.filter((each) => each.before === before)
      expect([...new Set(siblings.map((each) => each.part))]).toEqual([part])
    }
  })

  it('Keys are case-sensitive, and ids are not', async () => {
    const scene = await createScene()
    const token = scene.mine.tokens.viewer
    const get = async (params: Json) =>
      (await ask({ ...scene, params: { ...scene.params, ...params } }, 'getFlagState', token))
        .status
    const { projectId = '', envId = '', flagId = '' } = scene.params
    const [project, environment] = [projectId.toUpperCase(), envId.toUpperCase()]
    expect(
      await get({ projectId: project, envId: environment, flagId: flagId.toUpperCase() }),
    ).toBe(200)
    for (const wrong of [{ projectId: 'Shop' }, { envId: 'LIVE' }, { flagId: 'Secret-flag' }])
      expect(await get(wrong)).toBe(404)
  })

  it('A path is refused if a text is neither an id nor a key', async () => {
    const scene = await createScene()
    for (const [param, text] of [
      ['projectId', '.shop'],
      ['envId', 'a%20b'],
      ['flagId', 'x'.repeat(129)],
    ] as const) {
      const changed = { ...scene, params: { ...scene.params, [param]: text } }
      const { status, data } = await ask(changed, 'getFlagState', scene.mine.tokens.viewer)
      expect([status, data.issues]).toEqual([
        400,
        [{ path: param, message: expect.stringMatching(/^must be an id or a key: /) }],
      ])
    }
  })

  it('The metrics of a flag accept only ids', async () => {
    const { world, mine, params } = await createScene()
    const token = mine.tokens.viewer
    const get = (flagId?: string, envId?: string) =>
      world.call('GET', `/flags/${flagId}/metrics?environmentId=${envId}`, { token })
    expect((await get(params['flagId'], params['envId'])).status).toBe(200)
    expect((await get('secret-flag', params['envId'])).status).toBe(400)
    expect((await get(params['flagId'], 'live')).status).toBe(400)
  })
})

describe('Keys of another organization', () => {
  let scene: Scene
  let before: unknown

  beforeEach(async () => {
    scene = await createScene()
    await renameTo(scene.world, scene.mine, 'only-mine')
    before = await tracesOf(scene)
  })

  it.each(IN_PROJECT)(
    '%s returns the same 404 for a foreign, an unknown key and an id',
    async (name) => {
      const token = scene.theirs.tokens.owner
      const inProject = (projectId: string) =>
        ask({ ...byKey(scene), params: { ...byKey(scene).params, projectId } }, name, token)
      const foreign = await inProject('only-mine')
      expect(foreign).toMatchObject({
        status: 404,
        message: 'There is no such project.',
        data: null,
      })
      for (const text of ['unknown', scene.mine.project.id, crypto.randomUUID()]) {
        expect((await inProject(text)).text).toBe(foreign.text)
      }
      expect(await tracesOf(scene)).toEqual(before)
    },
  )

  it('Keys and ids of different organizations are not found together', async () => {
    const { mine, theirs } = scene
    // Each mixture with the parameters of which one must be in the path, so that it is a mixture.
    const mixtures: readonly (readonly [Scene['params'], readonly string[]])[] = [
      [{ projectId: 'shop' }, ['envId', 'flagId', 'segmentId']],
      [{ projectId: theirs.project.id }, ['envId', 'flagId', 'segmentId']],
      [{ projectId: 'shop', envId: 'live' }, ['flagId']],
      [{ projectId: 'only-mine', envId: theirs.live.id }, ['envId']],
      [{ projectId: mine.project.id, envId: theirs.live.id, flagId: 'secret-flag' }, ['envId']],
    ]
    for (const name of IN_PROJECT) {
      for (const [mixture, necessary] of mixtures) {
        if (!necessary.some((param) => paramsIn(name).includes(param))) continue
        const changed = { ...scene, params: { ...scene.params, ...mixture } }
        for (const token of [theirs.tokens.owner, mine.tokens.owner]) {
          const { status } = await ask(changed, name, token)
          expect([name, mixture, status]).toEqual([name, mixture, 404])
        }
      }
    }
    expect(await tracesOf(scene)).toEqual(before)
  })
})

describe('The organization of a project key', () => {
  let world: World
  let acme: Tenant
  let globex: Tenant

  beforeEach(async () => {
    world = await World.create()
    acme = await world.addTenant('Acme')
  })

  const get = (key: string, token: string, organization?: string): Promise<Answer> =>
    world.call('GET', `/projects/${key}`, {
      token,
      ...(organization !== undefined && { headers: { 'x-ff-organization': organization } }),
    })

  it('The platform finds a key that only one organization has without a header', async () => {
    const { platform } = acme.tokens
    expect((await get('shop', platform)).data.id).toBe(acme.project.id)
    expect((await get('unknown', platform)).status).toBe(404)
    globex = await world.addTenant('Globex')
    await renameTo(world, globex, 'blog')
    expect((await get('shop', platform)).data.id).toBe(acme.project.id)
    expect((await get('blog', platform)).data.id).toBe(globex.project.id)
  })

  it('The platform selects the organization with a header if several have the key', async () => {
    globex = await world.addTenant('Globex')
    const { platform } = acme.tokens
    const refused = await get('shop', platform)
    expect([refused.status, refused.message]).toEqual([
      400,
      'X-FF-Organization: is required: several organizations have a project "shop"',
    ])
    for (const { orgId, project } of [acme, globex]) {
      expect((await get('shop', platform, orgId.toUpperCase())).data.id).toBe(project.id)
      expect((await get(project.id, platform, acme.orgId)).data.id).toBe(project.id)
    }
    expect((await get('shop', platform, crypto.randomUUID())).status).toBe(404)
    const malformed = await get('shop', platform, 'acme')
    expect([malformed.status, malformed.data.issues[0].path]).toEqual([400, 'X-FF-Organization'])
    await world.call('DELETE', `/organizations/${globex.orgId}`, { token: platform })
    expect((await get('shop', platform)).data.id).toBe(acme.project.id)
  })

  it('A change of the platform by key affects only the selected organization', async () => {
    globex = await world.addTenant('Globex')
    const call = {
      token: acme.tokens.platform,
      headers: { 'x-ff-organization': globex.orgId },
      body: { name: 'changed' },
    }
    expect((await world.call('PUT', '/projects/shop', call)).data.id).toBe(globex.project.id)
    expect((await world.call('PUT', '/projects/shop', { ...call, headers: {} })).status).toBe(400)
    expect((await get(acme.project.id, acme.tokens.viewer)).data.name).toBe('shop')
  })

  it('A token finds keys only in its own organization and cannot select another', async () => {
    globex = await world.addTenant('Globex')
    for (const { orgId, project, tokens } of [acme, globex]) {
      expect((await get('shop', tokens.owner)).data.id).toBe(project.id)
      expect((await get('shop', tokens.owner, orgId)).data.id).toBe(project.id)
    }
    const foreign = await get('shop', acme.tokens.owner, globex.orgId)
    const unknown = await get('shop', acme.tokens.owner, crypto.randomUUID())
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
  })

  it('A user with several memberships must select the organization of a key', async () => {
    const { world: shared, tenant, ...rest } = await logInWithTwoMemberships()
    world = shared
    const { ada, other } = rest
    const byId = await Promise.all(
      [tenant, other].map(({ project }) => ada.get(`/projects/${project.id}`)),
    )
    expect(byId.map(({ status }) => status).sort()).toEqual([200, 404])
    expect((await ada.get(`/projects/${crypto.randomUUID()}`)).status).toBe(404)
    const refused = await ada.get('/projects/shop')
    expect([refused.status, refused.data.issues[0].path]).toEqual([400, 'X-FF-Organization'])
    for (const { orgId, project } of [tenant, other]) {
      const found = await ada.get('/projects/shop', { 'x-ff-organization': orgId })
      expect(found.data.id).toBe(project.id)
    }
  })

  it('A user with one membership and a deleted project with the same key need no header', async () => {
    const logInWorld = await LogInWorld.create()
    await logInWorld.add('ada@acme.test', 'viewer')
    const ada = logInWorld.as(await logInWorld.logIn('ada@acme.test'))
    expect((await ada.get('/projects/shop')).data.id).toBe(logInWorld.tenant.project.id)
    await logInWorld.manage('DELETE', '/projects/shop')
    expect((await ada.get('/projects/shop')).status).toBe(404)
    const projects = `/organizations/${logInWorld.tenant.orgId}/projects`
    const again = await logInWorld.manage('POST', projects, { key: 'shop' })
    expect((await ada.get('/projects/shop')).data.id).toBe(again.data.id)
  })
})

describe('Keys in the form of a UUID', () => {
  it.each([
    'createProject',
    'createEnvironment',
    'createFlag',
    'createSegment',
    'createVariation',
  ] as const)('%s refuses a key in the form of a UUID', async (name) => {
    const scene = await createScene()
    const before = await tracesOf(scene)
    const body = { ...scene.bodies[name], key: crypto.randomUUID().toUpperCase() }
    const changed = { ...scene, bodies: { [name]: body } }
    const { status, data } = await ask(changed, name, scene.mine.tokens.owner)
    const message = 'must not have the form of a UUID, because ids have this form'
    expect([status, data.issues]).toEqual([400, [{ path: 'key', message }]])
    const { world, mine } = scene
    const params = { orgId: mine.orgId, projectId: mine.project.id }
    const inProcess = world.management.createProject({ params, body: { key: body.key } })
    await expect(inProcess).rejects.toThrow(`key: ${message}`)
    expect(await tracesOf(scene)).toEqual(before)
  })

  it('An old key in the form of a UUID is found if no id matches', async () => {
    const scene = await createScene()
    const { world, mine, params } = scene
    const { storage } = world
    const old = { projectId: 'project', envId: 'environment', flagId: 'flag' } as const
    const names = Object.keys(old) as (keyof typeof old)[]
    const keys = Object.fromEntries(names.map((name) => [name, crypto.randomUUID()]))
    for (const name of names)
      await storage.update(old[name], params[name] ?? '', { key: keys[name] ?? '' })
    for (const selected of selections(names)) {
      const changed = Object.fromEntries(selected.map((name) => [name, keys[name]]))
      const place = { ...scene, params: { ...params, ...changed } as Scene['params'] }
      for (const name of ['getFlagState', 'listTargetingRules', 'updateFlagState'] as const) {
        for (const token of [mine.tokens.editor, mine.tokens.platform])
          expect([name, selected, (await ask(place, name, token)).status]).toEqual([
            name,
            selected,
            200,
          ])
      }
    }
  })

  it('An id takes precedence over a key', async () => {
    const { world, mine, params } = await createScene()
    const token = mine.tokens.editor
    const flags = '/projects/shop/flags'
    const body = { key: 'other', type: 'boolean' }
    const other = (await world.call('POST', flags, { token, body })).data
    await world.storage.update('flag', other.id, { key: params['flagId'] ?? '' })
    const found = await world.call('GET', `${flags}/${params['flagId']}`, { token })
    expect(found.data.id).toBe(params['flagId'])
    await world.call('DELETE', `${flags}/secret-flag`, { token })
    expect((await world.call('GET', `${flags}/${params['flagId']}`, { token })).data.id).toBe(
      other.id,
    )
  })

  it('An id of another organization does not hide an old key of the own organization', async () => {
    const { world, theirs, params } = await createScene()
    const token = theirs.tokens.owner
    await world.storage.update('project', theirs.project.id, { key: params['projectId'] ?? '' })
    const found = await world.call('GET', `/projects/${params['projectId']}`, { token })
    expect(found.data.id).toBe(theirs.project.id)
    await world.storage.update('environment', theirs.live.id, { key: params['envId'] ?? '' })
    const path = `/projects/${params['projectId']}/envs/${params['envId']}`
    expect((await world.call('GET', path, { token })).data.id).toBe(theirs.live.id)
  })
})

describe('The queries of a path', () => {
  it.each([
    ...READS_IN_PROJECT,
    'updateFlag',
    'updateFlagState',
    'updateSegment',
    'createTargetingRule',
  ] as const)('%s needs as many queries with keys as with ids', async (name) => {
    const counts: number[] = []
    for (const form of [(each: Scene) => each, byKey]) {
      const scene = await createScene()
      const counted = countingStore(scene.world.storage)
      const world = await World.create(counted.storage)
      counted.reset()
      const answer = await ask({ ...form(scene), world }, name, scene.mine.tokens.editor)
      expect(answer.status).toBe(endpoints[name].status)
      counts.push(counted.count())
    }
    expect(counts[1]).toBe(counts[0])
  })

  it('A flag in an environment is loaded with one query for each record of its path', async () => {
    const { world, mine, params } = await createScene()
    const counted = countingStore(world.storage)
    const other = await World.create(counted.storage)
    const actor = { id: 'a', email: '', name: 'A', role: 'viewer', orgId: mine.orgId } as const
    const { projectId = '', envId: environmentId = '', flagId = '' } = params
    const get = async (ids: Json) => {
      counted.reset()
      await other.as(actor).getFlagState({ params: { projectId, environmentId, flagId, ...ids } })
      return counted.count()
    }
    // The organization, project, environment, flag and state.
    expect(await get({})).toBe(5)
    expect(await get({ flagId: 'secret-flag' })).toBe(5)
    expect(await get({ projectId: 'shop', environmentId: 'live', flagId: 'secret-flag' })).toBe(5)
  })
})

describe('Repeated requests with keys', () => {
  const repeat = (scene: Scene, form: Scene, headers: Json = {}) =>
    ask(form, 'createTargetingRule', scene.mine.tokens.platform, {
      'idempotency-key': 'k',
      'x-ff-organization': scene.mine.orgId,
      ...headers,
    })

  it('A request by key and the same request by id are one request', async () => {
    const scene = await createScene()
    const first = await repeat(scene, scene)
    for (const names of selections(['projectId', 'envId', 'flagId']))
      expect((await repeat(scene, byKey(scene, names))).text).toBe(first.text)
    const changed = { ...scene, bodies: { createTargetingRule: { name: 'x', conditions: [] } } }
    expect((await repeat(scene, byKey(changed))).status).toBe(409)
  })

  it('A request for a new record with the same key is another request', async () => {
    const scene = await createScene()
    const first = await repeat(scene, byKey(scene))
    const token = scene.mine.tokens.owner
    await scene.world.call('DELETE', '/projects/shop/flags/secret-flag', { token })
    const body = { key: 'secret-flag', type: 'boolean' }
    const flag = await scene.world.call('POST', '/projects/shop/flags', { token, body })
    const second = await repeat(scene, byKey(scene))
    expect(second.status).toBe(201)
    expect(second.data.id).not.toBe(first.data.id)
    expect(second.data.flag_id).toBe(flag.data.id)
  })

  it('A request for the same keys of another organization is another request', async () => {
    const scene = await createScene()
    const token = scene.theirs.tokens.owner
    const body = { key: 'secret-flag', type: 'boolean' }
    const flag = await scene.world.call('POST', '/projects/shop/flags', { token, body })
    const first = await repeat(scene, byKey(scene))
    const second = await repeat(scene, byKey(scene), { 'x-ff-organization': scene.theirs.orgId })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.data.flag_id).toBe(flag.data.id)
  })
})

describe('Changes that run concurrently with a change of keys', () => {
  it('A change of the platform does not move to another project that takes over the key', async () => {
    const { storage } = memory()
    let takeOver = async (): Promise<void> => undefined
    const raced: Storage = new Proxy(storage, {
      get: (target, name: keyof Storage) =>
        name === 'transaction'
          ? async (...input: Parameters<Storage['transaction']>) => {
              const pending = takeOver
              takeOver = async () => undefined
              await pending()
              return target.transaction(...input)
            }
          : (target[name] as () => unknown).bind(target),
    })
    const world = await World.create(raced)
    const acme = await world.addTenant('Acme')
    const globex = await world.addTenant('Globex')
    await renameTo(world, globex, 'other')
    takeOver = async () => {
      await renameTo(world, acme, 'old')
      await renameTo(world, globex, 'shop')
    }
    const call = { token: acme.tokens.platform, body: { name: 'changed' } }
    const { data } = await world.call('PUT', '/projects/shop', call)
    expect([data.id, data.key]).toEqual([acme.project.id, 'old'])
  })
})

describe.each(stores)('Paths with keys in %s', (_name, open) => {
  it('Records are found, changed and deleted by their keys', async () => {
    const { storage, clean } = open()
    try {
      const world = await World.create(storage)
      const { tokens, project } = await world.addTenant('Acme')
      const call = async (method: string, address: string, body?: Json, token = tokens.owner) => {
        const answer = await world.call(method, address, { token, body })
        return [answer.status, answer.data] as const
      }
      const key = crypto.randomUUID()
      const [, flag] = await call('POST', '/projects/shop/flags', { key: 'a', type: 'boolean' })
      await call('POST', '/projects/shop/segments', { key: 's' })
      expect((await call('PUT', '/projects/shop/envs/live/flags/a', { is_active: false }))[0]).toBe(
        200,
      )
      await storage.update('flag', flag.id, { key })
      await storage.update('project', project.id, { key: key.toUpperCase() })
      for (const token of [tokens.viewer, tokens.platform]) {
        const address = `/projects/${key.toUpperCase()}/envs/staging/flags/${key}`
        const [status, state] = await call('GET', address, undefined, token)
        expect([status, state.flag_id]).toEqual([200, flag.id])
        expect((await call('GET', '/projects/none/flags', undefined, token))[0]).toBe(404)
        const wrong = `/projects/${key.toUpperCase()}/flags/${key.toUpperCase()}`
        expect((await call('GET', wrong, undefined, token))[0]).toBe(404)
      }
      await storage.update('project', project.id, { key: 'shop' })
      for (const address of ['segments/s', 'envs/staging', `flags/${key}`]) {
        expect((await call('DELETE', `/projects/shop/${address}`))[0]).toBe(200)
        expect((await call('GET', `/projects/shop/${address}`))[0]).toBe(404)
      }
    } finally {
      await storage.close()
      clean()
    }
  })
})

describe('Use cases in process', () => {
  it('Parameters of use cases in process can be keys', async () => {
    const { world, mine } = await createScene()
    const actor = { id: 'a', email: '', name: 'A', role: 'editor', orgId: mine.orgId } as const
    const flags = world.as(actor)
    const params = { projectId: 'shop', flagId: 'secret-flag' }
    const renamed = await flags.updateFlag({ params, body: { name: 'Renamed' } })
    expect(renamed).toMatchObject({ key: 'secret-flag', name: 'Renamed' })
    const place = { ...params, environmentId: 'live' }
    expect(await flags.getFlagState({ params: place })).toMatchObject({ flagId: renamed.id })
    await expect(flags.getFlag({ params: { ...params, flagId: 'unknown' } })).rejects.toThrow(
      'There is no such flag.',
    )
  })
})

/** Changes the key of a project, which no use case can do. */
async function renameTo({ storage }: World, { project }: Tenant, key: string): Promise<void> {
  await storage.update('project', project.id, { key })
}

async function logInWithTwoMemberships() {
  const logInWorld = await LogInWorld.create()
  const { world, tenant } = logInWorld
  const other = await world.addTenant('Globex')
  await logInWorld.add('ada@acme.test', 'viewer')
  const invited = await world.call('POST', `/organizations/${other.orgId}/members`, {
    token: other.tokens.owner,
    body: { email: 'ada@acme.test', role: 'viewer' },
  })
  await logInWorld.change({ token: invited.data.one_time_link, old_password: PASSWORD })
  return { world, tenant, other, ada: logInWorld.as(await logInWorld.logIn('ada@acme.test')) }
}

const COUNTED: ReadonlySet<unknown> = new Set(['find', 'list'])

/** Returns a store that counts the queries of the store, in transactions as well. */
function countingStore(storage: Storage) {
  let queries = 0
  const counting = <S extends StorageSession>(session: S): S =>
    new Proxy(session, {
      get: (target, name) => {
        const method = (target[name as keyof S] as (...input: readonly unknown[]) => unknown).bind(
          target,
        )
        if (name === 'transaction') {
          return (lock: string, work: (session: StorageSession) => unknown) =>
            method(lock, (inner: StorageSession) => work(counting(inner)))
        }
        return (...input: readonly unknown[]) => {
          if (COUNTED.has(name)) queries += 1
          return method(...input)
        }
      },
    })
  return {
    storage: counting(storage),
    count: () => queries,
    reset: () => {
      queries = 0
    },
  }
}
