import { compileFlagSet, type EvaluationContext } from '@ff/core'
import { evaluateAll, valuesOf } from '@ff/core/all-flags'
import type { Environment } from '@ff/protocol/management'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { type Answer, addressesOf, type Json, type Tenant, World } from '../world/world.ts'

const CONTEXTS: readonly EvaluationContext[] = Array.from({ length: 200 }, (_, index) => ({
  kind: 'user',
  key: `user-${index}`,
  plan: ['pro', 'free'][index % 2] ?? '',
}))

/** A project with two flags in one environment, and the edits that tests make. */
class Scene {
  readonly world: World
  readonly tenant: Tenant
  readonly flags: readonly Json[]
  readonly segmentId: string

  constructor(world: World, tenant: Tenant, flags: readonly Json[], segmentId: string) {
    this.world = world
    this.tenant = tenant
    this.flags = flags
    this.segmentId = segmentId
  }

  static async create(): Promise<Scene> {
    const world = await World.create()
    const tenant = await world.addTenant('Acme')
    const token = tenant.tokens.editor
    const flags: Json[] = []
    for (const key of ['a', 'b']) {
      const variations = ['x', 'y', 'z'].map((value) => ({ key: value, value: `${key}${value}` }))
      const body = { key, type: 'string', variations }
      flags.push((await world.call('POST', addressesOf(tenant).flags, { token, body })).data)
    }
    const rules = [{ attribute: 'plan', operator: 'eq', value: 'pro' }]
    const address = `/projects/${tenant.project.id}/segments`
    const segment = await world.call('POST', address, { token, body: { key: 's', rules } })
    return new Scene(world, tenant, flags, segment.data.id)
  }

  call(method: string, path: string, body?: Json): Promise<Answer> {
    const at = `/projects/${this.tenant.project.id}/envs/${this.tenant.live.id}${path}`
    return this.world.call(method, at, { token: this.tenant.tokens.editor, body })
  }

  async listed(flag: Json, what: 'targeting-rules' | 'rollouts'): Promise<Json[]> {
    return (await this.call('GET', `/flags/${flag.id}/${what}?limit=100`)).data.data
  }
}

type Edit = (scene: Scene) => Promise<unknown>

const anyFlag = fc.nat({ max: 1 })
const anyPick = fc.nat({ max: 9 })
const anyWeight = fc.constantFrom(0, 10, 33.333, 50, 100)
const pickOf = <T>(list: readonly T[], pick: number): T | undefined => list[pick % list.length]

const anySettings = fc.record({
  is_active: fc.boolean(),
  default: fc.option(anyPick),
  off: fc.option(anyPick),
  target: fc.option(anyPick),
  needsOther: fc.boolean(),
})

const editState: fc.Arbitrary<Edit> = fc
  .tuple(anyFlag, anySettings)
  .map(([index, settings]) => async (scene) => {
    const flag = scene.flags[index]
    const [first, other] = scene.flags
    const idOf = (pick: number | null) =>
      pick === null ? null : (pickOf<Json>(flag.variations, pick)?.id ?? null)
    const target = idOf(settings.target)
    const keys = ['user-1', 'user-2']
    await scene.call('PUT', `/flags/${flag.id}`, {
      is_active: settings.is_active,
      default_variation_id: idOf(settings.default),
      off_variation_id: idOf(settings.off),
      targets: target === null ? [] : [{ variation_id: target, kind: 'user', keys }],
      // Only one of the two flags can depend on the other.
      prerequisites:
        settings.needsOther && index === 0 && first !== undefined
          ? [{ flag_id: other.id, variation_ids: [other.variations[0].id] }]
          : [],
    })
  })

const editRollout: fc.Arbitrary<Edit> = fc
  .tuple(
    anyFlag,
    anyPick,
    anyWeight,
    fc.constantFrom('create', 'variants', 'ramp', 'update', 'delete', 'mix'),
  )
  .map(([index, pick, weight, what]) => async (scene) => {
    const flag = scene.flags[index]
    const at = `/flags/${flag.id}/rollouts`
    const variation_id = pickOf<Json>(flag.variations, pick)?.id
    const [x, , z] = flag.variations
    const variants = [
      { variation_id: x.id, weight },
      { variation_id: z.id, weight: Math.min(20, 100 - weight) },
    ]
    const percentage = { name: 'p', strategy: 'percentage', variation_id, percentage: weight }
    const ramp = { target_percentage: 80, increment: 10, interval_hours: 1 }
    if (what === 'create') await scene.call('POST', at, percentage)
    if (what === 'variants') {
      await scene.call('POST', at, { name: 'v', strategy: 'variant', variants })
    }
    if (what === 'ramp') {
      await scene.call('POST', at, { name: 'g', strategy: 'gradual', variation_id, ...ramp })
    }
    const rollout = pickOf(await scene.listed(flag, 'rollouts'), pick)
    if (rollout === undefined) return
    if (what === 'delete') await scene.call('DELETE', `${at}/${rollout.id}`)
    if (what === 'mix')
      await scene.call('PUT', `${at}/${rollout.id}`, { strategy: 'variant', variants })
    if (what === 'update') {
      const { name: _, ...fields } = percentage
      await scene.call('PUT', `${at}/${rollout.id}`, fields)
    }
  })

const editRule: fc.Arbitrary<Edit> = fc
  .tuple(anyFlag, anyPick, anyPick, fc.constantFrom('create', 'create', 'update', 'delete'))
  .map(([index, pick, order_index, what]) => async (scene) => {
    const flag = scene.flags[index]
    const at = `/flags/${flag.id}/targeting-rules`
    const rollout = pickOf(await scene.listed(flag, 'rollouts'), pick)
    const condition = { attribute: 'plan', operator: 'eq', value: ['pro', 'free'][pick % 2] }
    const body = {
      order_index,
      conditions: pick % 3 === 0 ? [] : [condition],
      segment_id: pick % 4 === 0 ? scene.segmentId : null,
      variation_id: pickOf<Json>(flag.variations, pick)?.id,
      rollout_id: pick % 2 === 0 ? (rollout?.id ?? null) : null,
    }
    if (what === 'create') await scene.call('POST', at, { name: `rule ${pick}`, ...body })
    const rule = pickOf(await scene.listed(flag, 'targeting-rules'), pick)
    if (rule === undefined) return
    if (what === 'update') await scene.call('PUT', `${at}/${rule.id}`, body)
    if (what === 'delete') await scene.call('DELETE', `${at}/${rule.id}`)
  })

const anyEdits = fc.array(fc.oneof(editState, editRollout, editRule, editRule), {
  minLength: 3,
  maxLength: 20,
  size: 'max',
})

async function answersAt({ world }: Scene, { id }: Environment, version?: number) {
  const definition = await world.storage.loadFlagSet(id, version)
  if (definition === undefined) throw new Error(`no version ${version}`)
  const flagSet = compileFlagSet(definition)
  const at = world.clock.now() + 3 * 3_600_000
  return CONTEXTS.map((context) => ({ ...valuesOf(evaluateAll(flagSet, context, at)) }))
}

/** Expects that weights and ranges agree: setting the same weights again moves no user. */
async function expectConsistentWeights(scene: Scene): Promise<void> {
  for (const flag of scene.flags) {
    for (const { id, strategy, percentage, variants } of await scene.listed(flag, 'rollouts')) {
      const weights = { percentage: { percentage }, variant: { variants }, gradual: {} }
      const body = weights[strategy as keyof typeof weights]
      const answer = await scene.call('PUT', `/flags/${flag.id}/rollouts/${id}`, body)
      expect([answer.status, answer.data?.moved_percentage, answer.message]).toEqual([200, 0, 'OK'])
    }
  }
}

it('A restored version is evaluated as before for every context, after any changes', async () => {
  const isChanged = new Set<boolean>()
  await fc.assert(
    fc.asyncProperty(anyEdits, fc.nat(), fc.nat(), async (edits, first, second) => {
      const scene = await Scene.create()
      const { world, tenant } = scene
      const begin = await world.version(tenant.live)
      for (const edit of edits) {
        await world.clock.advance(1000)
        await edit(scene)
      }
      for (const choice of [first, second]) {
        const newest = await world.version(tenant.live)
        // Earlier versions lack one of the flags or the segment.
        const version = begin + (choice % (newest - begin + 1))
        const answer = await scene.call('POST', `/versions/${version}/restore`)
        expect([answer.status, answer.message]).toEqual([200, 'OK'])
        expect(answer.data.skipped).toEqual([])
        expect(await answersAt(scene, tenant.live)).toEqual(
          await answersAt(scene, tenant.live, version),
        )
        const again = await scene.call('POST', `/versions/${version}/restore`)
        expect(again.data.flags).toEqual([])
        await expectConsistentWeights(scene)
        isChanged.add(answer.data.flags.length > 0)
      }
    }),
    { numRuns: runs(60) },
  )
  expect(isChanged.size).toBe(2)
})
