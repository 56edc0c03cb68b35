import type { EvaluationContext } from '@ff/core'
import fc from 'fast-check'
import type { Json } from '../world/world.ts'
import type { PreviewScene } from './preview-scene.ts'
import { user } from './preview-scene.ts'

/** The keys of the flags of a draft scene. A flag can depend on later flags only. */
const FLAG_KEYS = ['a', 'b', 'c'] as const
const PARTS = [0, 1, 2]

/** The ids of the rules and rollouts of a flag, which drafts use again. */
const partId = (flag: number, kind: number, part: number): string =>
  `00000000-0000-4000-8000-000000000${kind}${flag}${part}`

/** Contexts with unique keys. Some have attributes with the names of references. */
export const ORIGINALS: readonly EvaluationContext[] = Array.from({ length: 60 }, (_, index) => {
  const plan = ['pro', 'free', 'team', undefined][index % 4]
  const attributes = {
    ...(plan && { plan }),
    ...(index % 3 > 0 && { beta: index % 3 === 1 }),
    ...(index % 5 > 1 && { address: { country: ['DE', 'FR'][index % 2], city: 'X' } }),
    ...(index % 7 === 0 && { 'user.key': `other-${index % 2}` }),
    ...(index % 11 === 0 && { user: { plan: 'pro', key: `nested-${index % 3}` } }),
    ...(index % 13 === 0 && { org: { key: 'attribute', seats: 5 } }),
  }
  const key = `u${index}`
  if (index % 6 === 5) {
    const org = { key: `org-${index % 4}`, seats: index }
    return { kind: 'multi', user: { key, ...attributes }, org } as unknown as EvaluationContext
  }
  return index % 10 === 9
    ? ({ kind: 'device', key, ...attributes } as EvaluationContext)
    : user(key, attributes)
})

const CONDITIONS: readonly Json[] = [
  { attribute: 'plan', operator: 'eq', value: 'pro' },
  { attribute: 'user.plan', operator: 'in', value: ['pro', 'team'] },
  { attribute: 'beta', operator: 'eq', value: true },
  { attribute: 'beta', operator: 'exists' },
  { attribute: 'address.country', operator: 'eq', value: 'DE', negate: true },
  { attribute: 'address', operator: 'exists' },
  { attribute: 'org.seats', operator: 'gt', value: 20 },
  { attribute: 'org.key', operator: 'eq', value: 'org-1' },
  { attribute: 'user.key', operator: 'ends_with', value: '3' },
]

const condition = fc.constantFrom(...CONDITIONS)
const variation = fc.constantFrom('x', 'y', 'z')
const weight = fc.constantFrom(0, 10, 33.333, 50, 100)
const flagIndex = fc.nat({ max: 2 })

/** A change in the format of a preview, and the requests that publish it. */
export interface RandomChange {
  readonly change: Json
  /** Publishes the change and returns the status of the first request that is refused. */
  publish(scene: PreviewScene): Promise<number>
}

/** Creates a change in a scene; `undefined` if the scene does not permit a change of this kind. */
export type MakeChange = (scene: PreviewScene) => Promise<RandomChange | undefined>

const anyRollout = fc
  .record({
    strategy: fc.constantFrom('percentage', 'variant', 'gradual'),
    weight,
    variation,
    bucket: fc.constantFrom('user.key', 'org.key', 'plan', 'key'),
  })
  .map(({ strategy, weight: share, variation: variation_id, bucket: bucket_by }) => {
    const both = { name: 'r', strategy, bucket_by, salt: `salt-${share}` }
    if (strategy === 'percentage') return { ...both, variation_id, percentage: share }
    const start_at = '2030-01-01T00:00:00.000Z'
    const ramp = { target_percentage: 80, increment: 20, interval_hours: 2, start_at }
    if (strategy === 'gradual') return { ...both, variation_id, ...ramp }
    const variants = [
      { variation_id: 'x', weight: share / 2 },
      { variation_id: 'z', weight: (100 - share) / 2 },
    ]
    return { ...both, variants }
  })

const anyRule = fc.record({
  part: fc.constantFrom(...PARTS),
  conditions: fc.array(condition, { maxLength: 2 }),
  segment: fc.boolean(),
  other: fc.boolean(),
  rollout: fc.boolean(),
  variation,
})

/** Generates the configuration of a flag; the segment's id is the literal text `segment`. */
const anyConfiguration = fc
  .record({
    flag: flagIndex,
    isActive: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    off: variation,
    target: fc.boolean(),
    // A prerequisite on an earlier flag can cause a cycle.
    prerequisite: fc.option(flagIndex),
    cycle: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    rules: fc.uniqueArray(anyRule, { selector: ({ part }) => part, maxLength: 3 }),
    rollouts: fc.array(anyRollout, { minLength: 3, maxLength: 3 }),
  })
  .map(({ flag, isActive, off, target, prerequisite, cycle, rules, rollouts }) => ({
    flag,
    configuration: (segmentId: string): Json => ({
      state: {
        is_active: isActive,
        off_variation_id: off,
        targets: target ? [{ variation_id: 'z', kind: 'user', keys: ['u1', 'u2'] }] : [],
        prerequisites:
          prerequisite === null || (prerequisite <= flag && !cycle)
            ? []
            : [{ flag_id: FLAG_KEYS[prerequisite], variation_ids: ['x', 'y'] }],
      },
      targeting_rules: rules.map(({ part, other, rollout, ...each }) => ({
        id: partId(flag, 1, part),
        name: `rule ${part}`,
        conditions:
          other && flag < 2
            ? [...each.conditions, { attribute: 'c', operator: 'flag_is', value: ['x'] }]
            : each.conditions,
        segment_id: each.segment ? segmentId : null,
        ...(rollout ? { rollout_id: partId(flag, 2, part) } : { variation_id: each.variation }),
      })),
      rollouts: rollouts.map((each, part) => ({ id: partId(flag, 2, part), ...each })),
    }),
  }))

const configure: fc.Arbitrary<MakeChange> = anyConfiguration.map(
  ({ flag, configuration }) =>
    async (scene) => {
      const flagId = FLAG_KEYS[flag]
      const segmentId = await segmentOf(scene)
      const path = `${scene.live}/flags/${flagId}/configuration`
      const body = configuration(segmentId)
      return {
        change: { kind: 'flag_configuration', flag_id: flagId, configuration: body },
        async publish() {
          const { headers, status } = await scene.send('GET', path)
          if (status !== 200) return status
          const tag = { 'if-match': headers.get('etag') ?? '' }
          return (await scene.send('PUT', path, { body, headers: tag })).status
        },
      }
    },
)

const changeFlag: fc.Arbitrary<MakeChange> = fc
  .tuple(flagIndex, fc.constantFrom('archive', 'restore', 'values'), fc.nat({ max: 3 }))
  .map(([flag, what, value]) => async (scene) => {
    const path = `/projects/${scene.mine.projectId}/flags/${FLAG_KEYS[flag]}`
    const flag_id = FLAG_KEYS[flag]
    if (what !== 'values') {
      const archived = what === 'archive'
      return {
        change: { kind: 'flag', flag_id, archived },
        publish: async () => (await scene.send('PUT', path, { body: { archived } })).status,
      }
    }
    const variations = ['x', 'y', 'z'].map((key, index) => {
      return { key, value: index === value ? `${key}!` : key, is_default: index === 0 }
    })
    return {
      change: { kind: 'flag', flag_id, variations },
      async publish() {
        const found = (await scene.done('GET', `${path}/variations`)).data as Json[]
        for (const { key, ...fields } of variations) {
          const { id } = found.find((each) => each.key === key)
          const { status } = await scene.send('PUT', `${path}/variations/${id}`, { body: fields })
          if (status !== 200) return status
        }
        return 200
      },
    }
  })

const changeSegment: fc.Arbitrary<MakeChange> = fc
  .record({
    rules: fc.array(condition, { maxLength: 2 }),
    logical_op: fc.constantFrom('AND', 'OR', 'NOT'),
    force: fc.constantFrom(false, false, true),
    list: fc.constantFrom('included', 'excluded'),
    add: fc.uniqueArray(fc.constantFrom('u1', 'u2', 'u3', 'u4'), { maxLength: 2 }),
    remove: fc.uniqueArray(fc.constantFrom('u5', 'u6', 'u7'), { maxLength: 2 }),
  })
  .map(({ list, add, remove, ...fields }) => async (scene) => {
    const segment_id = await segmentOf(scene)
    const path = `/projects/${scene.mine.projectId}/segments/${segment_id}`
    return {
      change: { kind: 'segment', segment_id, list, add, remove, ...fields },
      async publish() {
        const changed = await scene.send('PUT', path, { body: fields })
        if (changed.status !== 200) return changed.status
        return (await scene.send('POST', `${path}/keys`, { body: { list, add, remove } })).status
      },
    }
  })

const promote: fc.Arbitrary<MakeChange> = flagIndex.map((flag) => async (scene) => {
  const path = `/projects/${scene.mine.projectId}/flags/${FLAG_KEYS[flag]}/promote`
  const body = { from_env_id: 'staging', to_env_id: 'live' }
  return {
    change: { kind: 'promotion', flag_id: FLAG_KEYS[flag], from_env_id: 'staging' },
    publish: async () => (await scene.send('POST', path, { body })).status,
  }
})

const restore: fc.Arbitrary<MakeChange> = fc.nat().map((choice) => async (scene) => {
  const { total } = await scene.storage.listVersions(scene.mine.live, { page: 1, limit: 1 })
  const version = Math.max(1, total - (choice % 6))
  return {
    change: { kind: 'restore', version },
    publish: async () =>
      (await scene.send('POST', `${scene.live}/versions/${version}/restore`)).status,
  }
})

const scheduled: fc.Arbitrary<MakeChange> = fc
  .tuple(flagIndex, fc.boolean(), variation)
  .map(([flag, is_active, default_variation_id]) => async (scene) => {
    const path = `${scene.live}/flags/${FLAG_KEYS[flag]}`
    const body = { is_active, default_variation_id }
    const planned = { apply_at: '2031-01-01T00:00:00Z', operation: 'updateFlagState', body }
    const created = await scene.send('POST', `${path}/scheduled-changes`, { body: planned })
    if (created.status !== 201) return undefined
    return {
      change: { kind: 'scheduled_change', change_id: created.data.id },
      async publish() {
        await scene.send('DELETE', `${path}/scheduled-changes/${created.data.id}`)
        return (await scene.send('PUT', path, { body })).status
      },
    }
  })

/** Generates changes of all kinds. */
export const anyMakeChange: fc.Arbitrary<MakeChange> = fc.oneof(
  { weight: 6, arbitrary: configure },
  { weight: 2, arbitrary: changeFlag },
  { weight: 3, arbitrary: changeSegment },
  { weight: 1, arbitrary: promote },
  { weight: 1, arbitrary: restore },
  { weight: 1, arbitrary: scheduled },
)

/** Creates the flags and the segment of a draft scene, and configures `staging`. */
export async function fill(scene: PreviewScene): Promise<void> {
  const project = `/projects/${scene.mine.projectId}`
  const variations = ['x', 'y', 'z'].map((key) => ({ key, value: key }))
  for (const key of FLAG_KEYS) {
    const body = { key, type: 'string', variations, client_visible: key !== 'b' }
    await scene.done('POST', `${project}/flags`, body)
    const rule = { name: 'pro', conditions: [CONDITIONS[0]], variation_id: 'y' }
    await scene.done('POST', `${project}/envs/staging/flags/${key}/targeting-rules`, rule)
  }
  await scene.done('POST', `${project}/segments`, { key: 's', rules: [CONDITIONS[2]] })
}

async function segmentOf(scene: PreviewScene): Promise<string> {
  const { data } = await scene.storage.list('segment', {
    where: { projectId: scene.mine.projectId },
    limit: 1,
  })
  return data[0]?.id ?? ''
}
