import { bool, defineFlags, type FlagType, json, number, oneOf, text } from '@ff/core/typed-flags'
import { createFlagServer } from '@ff/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Actor, type As, SYSTEM } from '../../src/index.ts'
import { createManagement } from '../../src/node/node.ts'
import { stores } from '../world/stores.ts'

const LIVE = { project: 'shop', environment: 'live' } as const
const USER = { kind: 'user', key: 'user-1' }

const shopFlags = defineFlags({
  'new-checkout': bool(false),
  banner: bool(true),
  theme: oneOf('light', 'dark'),
  title: text('A shop with spaces'),
  retries: number(-1.5),
  limits: json({ max: 1 }),
  notes: json<string[]>(),
})

describe.each(stores)('ensureProject in %s', (_name, openStore) => {
  let store: ReturnType<typeof openStore>
  let open: ReturnType<typeof openServer>[]

  function openServer() {
    return createFlagServer<As>({ storage: store.storage, management: createManagement() })
  }

  const serve = () => {
    const flags = openServer()
    open.push(flags)
    return flags
  }

  beforeEach(() => {
    store = openStore()
    open = []
  })
  afterEach(async () => {
    for (const flags of open) await flags.close()
    store.clean()
  })

  it('In an empty store, it creates everything, and every flag serves its fallback', async () => {
    const flags = serve()
    const project = await flags.as(SYSTEM).ensureProject({ key: 'shop', flags: shopFlags })
    expect(project).toMatchObject({
      key: 'shop',
      environments: [{ key: 'live' }, { key: 'staging' }],
    })
    for (const environment of ['live', 'staging']) {
      const values = await flags.allOrThrow({ project: 'shop', environment }, USER)
      expect(values).toEqual({
        ...{ 'new-checkout': false, banner: true, theme: 'light', title: 'A shop with spaces' },
        ...{ retries: -1.5, limits: { max: 1 }, notes: null },
      })
      expect(shopFlags.allFrom(values)).toEqual(values)
    }
  })

  it('The second call changes nothing', async () => {
    const flags = serve()
    const first = await flags.as(SYSTEM).ensureProject({ key: 'shop', flags: shopFlags })
    const entries = async () => (await store.storage.list('auditEvent', {})).total
    const before = await entries()
    expect(await flags.as(SYSTEM).ensureProject({ key: 'shop', flags: shopFlags })).toEqual(first)
    expect(await entries()).toBe(before)
  })

  it('Changed configuration survives, and missing flags and variations are added', async () => {
    const flags = serve()
    const management = flags.as(SYSTEM)
    const { id: projectId } = await management.ensureProject({ key: 'shop', flags: shopFlags })
    const { data } = await management.listFlags({
      params: { projectId },
      query: { search: 'theme' },
    })
    const flagId = data[0]?.id ?? ''
    const { variations } = await management.getFlag({ params: { projectId, flagId } })
    const dark = variations.find(({ key }) => key === 'dark')?.id ?? ''
    await management.updateVariation({
      params: { projectId, flagId, variationId: dark },
      body: { isDefault: true },
    })
    const more = defineFlags({ theme: oneOf('light', 'sepia', 'dark'), added: bool(true) })
    await management.ensureProject({ key: 'shop', flags: more })
    const after = await management.getFlag({ params: { projectId, flagId } })
    expect(after.variations.map(({ key, isDefault }) => [key, isDefault])).toEqual([
      ['light', false],
      ['dark', true],
      ['sepia', false],
    ])
    expect(await flags.value(LIVE, 'added', USER, false)).toBe(true)
    expect(await flags.value(LIVE, 'banner', USER, false)).toBe(true)
  })

  it('A flag of another type is refused, and nothing is created', async () => {
    const management = serve().as(SYSTEM)
    const { id: projectId } = await management.ensureProject({ key: 'shop', flags: shopFlags })
    const other = defineFlags({ added: bool(true), theme: bool(true) })
    await expect(management.ensureProject({ key: 'shop', flags: other })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The flag "theme" has the type string, but the program defines it as boolean.',
    })
    const { meta } = await management.listFlags({ params: { projectId }, query: {} })
    expect(meta.total).toBe(7)
  })

  it('Several servers that start at once create everything once', async () => {
    const servers = [serve(), serve(), serve(), serve()]
    const needed = { key: 'shop', flags: shopFlags }
    const projects = await Promise.all(
      servers.map((flags) => flags.as(SYSTEM).ensureProject(needed)),
    )
    expect(new Set(projects.map(({ id }) => id)).size).toBe(1)
    expect((await store.storage.list('organization', {})).total).toBe(1)
    expect((await store.storage.list('project', {})).total).toBe(1)
    expect((await store.storage.list('flag', {})).total).toBe(7)
  })

  it('With several organizations, a new project requires the organization', async () => {
    const management = serve().as(SYSTEM)
    const [one, two] = await Promise.all(
      ['One', 'Two'].map((name) => management.createOrganization({ body: { name } })),
    )
    await expect(management.ensureProject({ key: 'shop' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'orgId: is required: there are several organizations',
    })
    const first = await management.ensureProject({ key: 'shop', orgId: one?.id })
    expect((await management.ensureProject({ key: 'shop' })).id).toBe(first.id)
    const second = await management.ensureProject({ key: 'shop', orgId: two?.id })
    expect(second.id).not.toBe(first.id)
    await expect(management.ensureProject({ key: 'shop' })).rejects.toThrow(/several organizations/)
  })

  it.each([
    ['a space', 'my shop', {}],
    ['an empty key', '', {}],
    ['a flag key with a space', 'shop', { 'new checkout': bool(false) }],
    ['a fallback that is not JSON', 'shop', { limits: json(() => 1) }],
  ])('Invalid input, such as %s, is refused, and nothing is created', async (_what, key, types) => {
    const management = serve().as(SYSTEM)
    const flags = { types: types as Record<string, FlagType<unknown>> }
    await expect(management.ensureProject({ key, flags })).rejects.toMatchObject({
      code: expect.stringMatching(/^INVALID_/),
    })
    expect((await store.storage.list('flag', {})).total).toBe(0)
  })

  it('An actor needs the permissions of the use cases, and only sees its organization', async () => {
    const flags = serve()
    const { orgId } = await flags.as(SYSTEM).ensureProject({ key: 'shop', flags: shopFlags })
    const actor: Actor = { id: 'v', email: '', name: 'V', role: 'viewer', orgId }
    const added = defineFlags({ added: bool(true) })
    await flags.as(actor).ensureProject({ key: 'shop', flags: shopFlags })
    await expect(
      flags.as(actor).ensureProject({ key: 'shop', flags: added }),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const foreign = { ...actor, role: 'owner', orgId: 'another' } as const
    await expect(flags.as(foreign).ensureProject({ key: 'shop' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })
})
