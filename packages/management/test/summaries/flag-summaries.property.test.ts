import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs, SELECTION } from '../../../../scripts/test-selection.ts'
import { dueChangesJob } from '../../src/scheduling/due-changes.ts'
import { missingSummariesJob } from '../../src/summaries/missing-summaries.ts'
import { type Answer, type Json, type Tenant, World } from '../world/world.ts'
import { expectedSummaries } from './expected-summaries.ts'

const HOUR_MS = 3_600_000

/** A project that random edits change. */
class Scene {
  readonly world: World
  readonly tenant: Tenant

  constructor(world: World, tenant: Tenant) {
    this.world = world
    this.tenant = tenant
  }

  static async create(): Promise<Scene> {
    const world = await World.create()
    const scene = new Scene(world, await world.addTenant('Acme'))
    for (const key of ['a', 'b']) await scene.edit('POST', '/flags', newFlag(key))
    await scene.edit('POST', '/segments', { key: 's' })
    return scene
  }

  /** Sends a request below the project. Most edits are valid; the others change nothing. */
  edit(method: string, path: string, body?: Json): Promise<Answer> {
    const token = this.tenant.tokens.admin
    return this.world.call(method, `/projects/${this.tenant.project.id}${path}`, { token, body })
  }

  async listed(path: string): Promise<Json[]> {
    return (await this.edit('GET', `${path}?limit=100`)).data?.data ?? []
  }

  /** Reads all summaries in pages of two. */
  async summaries(): Promise<Json[]> {
    const all: Json[] = []
    for (let page = 1, pageCount = 1; page <= pageCount; page += 1) {
      const answer = await this.edit('GET', `/flag-summaries?limit=2&page=${page}`)
      expect([answer.status, answer.message]).toEqual([200, 'OK'])
      all.push(...answer.data.data)
      pageCount = answer.data.meta.pageCount
    }
    return all
  }

  expected(): Promise<Json[]> {
    const { storage, clock } = this.world
    return expectedSummaries(storage, this.tenant.project, clock.now())
  }
}

function newFlag(key: string): Json {
  const variations = ['x', 'y', 'z'].map((value) => ({ key: value, value }))
  return { key, type: 'string', variations }
}

/** The random numbers of one edit. */
interface Dice {
  readonly what: number
  readonly flag: number
  readonly environment: number
  readonly pick: number
  readonly flip: boolean
}

const anyDice: fc.Arbitrary<Dice> = fc.record({
  what: fc.nat({ max: 999 }),
  flag: fc.nat({ max: 9 }),
  environment: fc.nat({ max: 9 }),
  pick: fc.nat({ max: 99 }),
  flip: fc.boolean(),
})

interface Place extends Dice {
  readonly scene: Scene
  readonly flags: readonly Json[]
  readonly environments: readonly Json[]
  /** The chosen flag, with its variations. */
  readonly it: Json
  readonly at: string
  readonly variation: Json
}

const of = <T>(list: readonly T[], pick: number): T => list[pick % list.length] as T

type Edit = (place: Place) => Promise<unknown> | false

const EDITS: readonly Edit[] = [
  ({ scene, pick }) => scene.edit('POST', '/flags', newFlag(`f${pick % 4}`)),
  ({ scene, it, pick }) => pick % 4 === 0 && scene.edit('DELETE', `/flags/${it.id}`),
  ({ scene, it, pick }) => scene.edit('PUT', `/flags/${it.id}`, { archived: pick % 4 === 0 }),
  ({ scene, it, pick }) =>
    scene.edit('PUT', `/flags/${it.id}`, { name: `n ${pick}`, tags: [`t${pick % 3}`] }),
  ({ scene, it, pick }) =>
    scene.edit('POST', `/flags/${it.id}/variations`, { key: `v${pick}`, value: `${pick}` }),
  ({ scene, it, variation, pick, flip }) =>
    scene.edit('PUT', `/flags/${it.id}/variations/${variation.id}`, {
      ...(flip ? { is_default: true } : { name: `named ${pick}` }),
    }),
  ({ scene, it, variation, pick }) =>
    scene.edit('PUT', `/flags/${it.id}/variations/reorder`, {
      orders: [{ id: variation.id, order_index: pick }],
    }),
  ({ scene, it, variation }) => scene.edit('DELETE', `/flags/${it.id}/variations/${variation.id}`),
  ({ scene, at, pick }) => scene.edit('PUT', at, { is_active: pick % 3 > 0 }),
  ({ scene, at, flip, pick, variation }) =>
    scene.edit('PUT', at, {
      default_variation_id: flip ? variation.id : null,
      off_variation_id: pick % 2 === 0 ? variation.id : null,
    }),
  ({ scene, at, pick, variation, flags, it }) =>
    scene.edit('PUT', at, {
      targets: [{ variation_id: variation.id, kind: 'user', keys: ['u', `u${pick}`] }],
      prerequisites: flags
        .slice(0, pick % 2)
        .filter(({ id }) => id !== it.id)
        .map(({ id }) => ({ flag_id: id, variation_ids: ['x'] })),
    }),
  ({ scene, at, pick, variation }) =>
    scene.edit('POST', `${at}/rollouts`, rollout(pick, variation)),
  async ({ scene, at, pick, variation }) => {
    const known = of(await scene.listed(`${at}/rollouts`), pick)
    const { name: _, ...settings } = rollout(pick + 1, variation)
    return known && scene.edit('PUT', `${at}/rollouts/${known.id}`, settings)
  },
  async ({ scene, at, pick }) => {
    const known = of(await scene.listed(`${at}/rollouts`), pick)
    return known && scene.edit('DELETE', `${at}/rollouts/${known.id}`)
  },
  async ({ scene, at, pick, flip, variation }) =>
    scene.edit('POST', `${at}/targeting-rules`, await rule(scene, { at, pick, flip, variation })),
  async ({ scene, at, pick, flip, variation }) =>
    scene.edit('POST', `${at}/targeting-rules`, await rule(scene, { at, pick, flip, variation })),
  async ({ scene, at, pick, flip, variation }) => {
    const known = of(await scene.listed(`${at}/targeting-rules`), pick)
    const { name: _, ...fields } = await rule(scene, { at, pick: pick + 1, flip, variation })
    return known && scene.edit('PUT', `${at}/targeting-rules/${known.id}`, fields)
  },
  async ({ scene, at, pick }) => {
    const known = of(await scene.listed(`${at}/targeting-rules`), pick)
    return known && scene.edit('DELETE', `${at}/targeting-rules/${known.id}`)
  },
  async ({ scene, at, pick }) => {
    const known = of(await scene.listed(`${at}/targeting-rules`), pick)
    const orders = known && [{ id: known.id, order_index: pick }]
    return known && scene.edit('PUT', `${at}/targeting-rules/reorder`, { orders })
  },
  async ({ scene, pick, flip }) => {
    const [segment] = await scene.listed('/segments')
    const rules = [{ attribute: 'plan', operator: 'eq', value: `p${pick % 3}` }]
    if (flip) return scene.edit('PUT', `/segments/${segment.id}`, { rules })
    return scene.edit('POST', `/segments/${segment.id}/keys`, {
      list: 'included',
      add: [`${pick}`],
    })
  },
  ({ scene, pick, environments, flip }) =>
    scene.edit('POST', '/envs', {
      key: `e${pick % 3}`,
      ...(flip && { copy_from: of(environments, pick).key }),
    }),
  ({ scene, environments, pick, flip }) =>
    flip && scene.edit('DELETE', `/envs/${of(environments, pick).id}`),
  ({ scene, environments, pick }) =>
    scene.edit('PUT', `/envs/${of(environments, pick).id}`, {
      is_default: true,
      name: `e ${pick}`,
    }),
  ({ scene, it, environments, environment, pick }) =>
    scene.edit('POST', `/flags/${it.id}/promote`, {
      from_env_id: of(environments, environment).id,
      to_env_id: of(environments, pick).id,
      dry_run: pick % 5 === 0,
    }),
  async ({ scene, environments, environment, pick }) => {
    const at = `/envs/${of(environments, environment).id}/versions`
    const [newest] = await scene.listed(at)
    return newest && scene.edit('POST', `${at}/${1 + (pick % newest.version)}/restore`)
  },
  ({ scene, at, pick, flip }) =>
    scene.edit('POST', `${at}/scheduled-changes`, {
      apply_at: new Date(scene.world.clock.now() + (1 + (pick % 3)) * HOUR_MS).toISOString(),
      ...{ operation: 'updateFlagState', body: { is_active: flip } },
    }),
  async ({ scene, at, pick }) => {
    const known = of(await scene.listed(`${at}/scheduled-changes`), pick)
    return known && scene.edit('DELETE', `${at}/scheduled-changes/${known.id}`)
  },
  async ({ scene: { world } }) => {
    await world.clock.advance(HOUR_MS)
    await dueChangesJob(world.services, undefined).run()
  },
  async ({ scene: { world, tenant }, it }) => {
    // Evaluations change the record of the flag, but not its summary.
    const lastEvaluatedAt = new Date(world.clock.now()).toISOString()
    const changes = { lastEvaluatedAt, unusedSince: lastEvaluatedAt }
    await world.storage.transaction(tenant.orgId, (tx) => tx.update('flag', it.id, changes))
  },
]

/** The edits of state, rollouts and rules occur more often, because most summaries depend on them. */
const WEIGHTED = [...EDITS, ...EDITS.slice(8, 17), ...EDITS.slice(11, 16)]

function rollout(pick: number, variation: Json): Json {
  const weight = [0, 10, 33.333, 50, 100][pick % 5] ?? 0
  const served = { name: `r${pick % 3}`, variation_id: variation.id }
  const schedule = { target_percentage: 50, increment: 20, interval_hours: 2 }
  return of<Json>(
    [
      { ...served, strategy: 'percentage', percentage: weight },
      { ...served, strategy: 'gradual', ...schedule },
      {
        ...{ name: 'v', strategy: 'variant', variants: [{ variation_id: variation.id, weight }] },
      },
    ],
    pick,
  )
}

interface RuleDice extends Pick<Place, 'at' | 'pick' | 'flip' | 'variation'> {}

async function rule(scene: Scene, { at, pick, flip, variation }: RuleDice): Promise<Json> {
  const served = of(await scene.listed(`${at}/rollouts`), pick)
  const [segment] = await scene.listed('/segments')
  return {
    name: `rule ${pick % 3}`,
    order_index: pick % 5,
    conditions: [{ attribute: 'plan', operator: 'eq', value: `p${pick % 3}` }],
    segment_id: pick % 4 === 0 ? segment.id : null,
    ...(flip && served !== undefined
      ? { rollout_id: served.id, variation_id: null }
      : { rollout_id: null, variation_id: variation.id }),
  }
}

async function apply(scene: Scene, dice: Dice): Promise<void> {
  await scene.world.clock.advance(1000)
  const flags = await scene.listed('/flags')
  const environments = await scene.listed('/envs')
  const listed = of(flags, dice.flag)
  const make = EDITS[0]
  if (listed === undefined) {
    await make?.({ ...dice, scene, flags, environments, it: {}, at: '', variation: {} })
    return
  }
  const it = (await scene.edit('GET', `/flags/${listed.id}`)).data
  const at = `/envs/${of(environments, dice.environment).id}/flags/${it.id}`
  const variation = of<Json>(it.variations, dice.pick)
  await of(WEIGHTED, dice.what)({ ...dice, scene, flags, environments, it, at, variation })
}

it('The summaries of all flags equal those derived from flag sets and records, after any changes', async () => {
  const shapes = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyDice, { minLength: 10, maxLength: 60, size: 'max' }),
      async (all) => {
        const scene = await Scene.create()
        const check = async () => {
          const summaries = await scene.summaries()
          expect(summaries).toEqual(await scene.expected())
          for (const { environments, differs } of summaries) {
            for (const { shape } of environments) shapes.add(shape)
            shapes.add(`differs: ${differs}`)
          }
        }
        for (const dice of all) {
          await apply(scene, dice)
          if (dice.pick % 7 === 0) await check()
        }
        await check()
      },
    ),
    { numRuns: runs(80) },
  )
  const rare = ['off', 'rollout', 'experiment', 'gradual']
  // Without all runs, the rare shapes can be absent.
  if (SELECTION === 'default') for (const shape of rare) shapes.add(shape)
  const all = ['everybody', 'rules', ...rare, 'differs: false', 'differs: true']
  expect([...shapes].sort()).toEqual(all.sort())
})

it('Missing summaries are derived on reading and by the job, and equal the others', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyDice, { minLength: 10, maxLength: 40, size: 'max' }),
      async (all) => {
        const scene = await Scene.create()
        const { storage } = scene.world
        for (const dice of all) await apply(scene, dice)
        const withoutVersions = (summaries: Json[]) =>
          summaries.map((summary) => ({
            ...summary,
            environments: summary.environments.map(
              ({ version: _, changed_at: __, changed_by: ___, ...part }: Json) => part,
            ),
          }))
        const before = withoutVersions(await scene.summaries())
        const stored = (await storage.list('flag', {})).data
        // As an earlier release leaves the flags.
        for (const { id } of stored) await storage.update('flag', id, { summary: null, marks: [] })
        const read = await scene.summaries()
        expect(withoutVersions(read)).toEqual(before)
        await missingSummariesJob(storage).run()
        expect(await scene.summaries()).toEqual(read)
        const marks = ({ data }: Awaited<ReturnType<typeof load>>) =>
          data.map((flag) => [flag.id, flag.marks])
        const load = () => storage.list('flag', {})
        expect(marks(await load())).toEqual(stored.map((flag) => [flag.id, flag.marks]))
        expect((await storage.list('flag', { where: { summary: null } })).total).toBe(0)
      },
    ),
    { numRuns: runs(20) },
  )
})
