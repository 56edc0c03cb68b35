import { beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../world/world.ts'
import { openPreviewScene, type PreviewScene, user } from './preview-scene.ts'

let scene: PreviewScene

beforeEach(async () => {
  scene = await openPreviewScene()
  return () => scene.flags.close()
})

const archive = { kind: 'flag', flag_id: 'theme', archived: true }
const NOWHERE = '99999999-9999-4999-8999-999999999999'

const configure = (configuration: Json, flag_id = 'theme'): Json => ({
  kind: 'flag_configuration',
  flag_id,
  configuration: {
    state: { is_active: true },
    targeting_rules: [],
    rollouts: [],
    ...configuration,
  },
})

const ruleWith = (condition: Json, more: Json = {}): Json =>
  configure({
    targeting_rules: [
      { id: NOWHERE, name: 'r', conditions: [condition], variation_id: 'light', ...more },
    ],
  })

async function refusal(changes: readonly Json[], more: Json = {}): Promise<readonly unknown[]> {
  const { status, data } = await scene.preview(changes, more)
  return [status, data?.issues?.[0]?.path]
}

describe('A preview that is refused', () => {
  it.each<[string, readonly Json[], Json, readonly unknown[]]>([
    ['51 changes', Array(51).fill(archive), {}, [400, 'changes']],
    ['no change', [], {}, [400, 'changes']],
    ['an unknown kind', [{ kind: '__proto__' }], {}, [400, 'changes.0.kind']],
    ['an unknown field', [{ ...archive, force: true }], {}, [400, 'changes.0.force']],
    ['a flag change without content', [{ kind: 'flag', flag_id: 'theme' }], {}, [400, 'changes.0']],
    ['99 contexts', [archive], { max_contexts: 99 }, [400, 'max_contexts']],
    ['50,001 contexts', [archive], { max_contexts: 50_001 }, [400, 'max_contexts']],
    ['21 examples', [archive], { examples: 21 }, [400, 'examples']],
    ['a window of 721 hours', [archive], { window_hours: 721 }, [400, 'window_hours']],
    ['a time without a zone', [archive], { at: '2030-01-01T00:00:00' }, [400, 'at']],
    [
      'an invalid pattern',
      [configure({}), ruleWith({ attribute: 'plan', operator: 'regex', value: '(' })],
      {},
      [400, 'changes.1.configuration.targeting_rules.0.conditions.0'],
    ],
    [
      'a condition on an unknown segment',
      [ruleWith({ attribute: 'plan', operator: 'exists' }, { segment_id: NOWHERE })],
      {},
      [400, 'changes.0.configuration.targeting_rules.0.segment_id'],
    ],
    [
      'a value of 65,537 characters',
      [ruleWith({ attribute: 'plan', operator: 'eq', value: 'x'.repeat(65_537) })],
      {},
      [400, 'changes.0.configuration.targeting_rules.0.conditions.0.value'],
    ],
    [
      'two variations with one key',
      [
        {
          kind: 'flag',
          flag_id: 'theme',
          variations: [
            { key: 'a', value: 'a' },
            { key: 'a', value: 'b' },
          ],
        },
      ],
      {},
      [400, 'changes.0.variations.1.key'],
    ],
  ])('%s is refused with the field', async (_, changes, more, expected) => {
    expect(await refusal(changes, more)).toEqual(expected)
  })

  it('A cycle of prerequisites is refused with the field, also if two changes cause it together', async () => {
    const project = `/projects/${scene.mine.projectId}`
    await scene.done('POST', `${project}/flags`, { key: 'other', type: 'boolean' })
    const needing = (flag_id: string, variation: string): Json => ({
      state: { is_active: true, prerequisites: [{ flag_id, variation_ids: [variation] }] },
    })
    const there = configure(needing('other', 'true'))
    const back = configure(needing('theme', 'dark'), 'other')
    expect((await scene.preview([there])).status).toBe(200)
    expect(await refusal([there, back])).toEqual([400, 'changes'])
    // The changes are valid together if the second one removes the first dependency.
    expect((await scene.preview([there, back, configure({})])).status).toBe(200)
  })

  it('Ids of other projects and organizations are refused as unknown ids are', async () => {
    const { theirs, mine } = scene
    const token = theirs.tokens.editor
    const created = { key: 'foreign', rules: [] }
    const segments = `/projects/${theirs.projectId}/segments`
    const segment = (await scene.send('POST', segments, { body: created, token })).data
    const state = `/projects/${theirs.projectId}/envs/${theirs.live}/flags/theme`
    const planned = { apply_at: '2031-01-01T00:00:00Z', operation: 'updateFlagState' }
    const body = { ...planned, body: { is_active: false } }
    const change = (await scene.send('POST', `${state}/scheduled-changes`, { body, token })).data
    const pairs: readonly (readonly [Json, Json])[] = [
      [
        { ...archive, flag_id: theirs.flag.id },
        { ...archive, flag_id: NOWHERE },
      ],
      [
        { kind: 'segment', segment_id: segment.id, force: true },
        { kind: 'segment', segment_id: NOWHERE, force: true },
      ],
      [
        { kind: 'promotion', flag_id: 'theme', from_env_id: theirs.staging },
        { kind: 'promotion', flag_id: 'theme', from_env_id: NOWHERE },
      ],
      [
        { kind: 'scheduled_change', change_id: change.id },
        { kind: 'scheduled_change', change_id: NOWHERE },
      ],
    ]
    for (const [foreign, unknown] of pairs) {
      const { headers: _, ...answer } = await scene.preview([foreign])
      const { headers: __, ...expected } = await scene.preview([unknown])
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer).toEqual(expected)
    }
    const path = `/projects/${theirs.projectId}/envs/${theirs.live}/preview`
    const request = { body: { changes: [archive] }, token: mine.tokens.owner }
    expect((await scene.send('POST', path, request)).status).toBe(404)
  })

  it('A version that does not exist is not found, and an applied change cannot be previewed', async () => {
    expect((await scene.preview([{ kind: 'restore', version: 99 }])).status).toBe(404)
    const body = { is_active: false }
    const planned = { apply_at: '2030-01-01T01:00:00Z', operation: 'updateFlagState', body }
    const { id } = await scene.done('POST', `${scene.theme}/scheduled-changes`, planned)
    const change = { kind: 'scheduled_change', change_id: id }
    await scene.see(user('ada'))
    expect((await scene.impact([change])).flags[0]).toMatchObject({ changed: 0, reason_only: 1 })
    await scene.clock.advance(3_700_000)
    expect(await refusal([change])).toEqual([400, 'changes.0.change_id'])
  })

  it('Odd names, keys and values are returned unchanged as data', async () => {
    const { tokens } = scene.mine
    const settings = { context_privacy: 'all' }
    await scene.send('PUT', scene.live, { body: settings, token: tokens.admin })
    await scene.clock.advance(20_000)
    const keys = ['<img src=x onerror=alert(1)>', '\u202Eabc', '__proto__', '😀', 'k'.repeat(8000)]
    const odd = JSON.parse('{"__proto__":{"a":1},"constructor":"x"}')
    await scene.see(...keys.map((key) => ({ ...user(key), ...odd })))
    const impact = await scene.impact([ruleWith({ attribute: 'constructor', operator: 'exists' })])
    const { examples } = impact.flags[0].moves[0]
    expect(examples.map(({ key }: Json) => key).sort()).toEqual([...keys].sort())
  })
})

describe('kept_attributes', () => {
  const keep = async (kept_attributes: Json) => {
    const token = scene.mine.tokens.admin
    return scene.send('PUT', scene.live, { body: { kept_attributes }, token })
  }

  it('An environment keeps at most 50 attributes, each of them once', async () => {
    const names = Array.from({ length: 51 }, (_, index) => `a${index}`)
    const refused = await keep(names)
    expect([refused.status, refused.data.issues[0].path]).toEqual([400, 'kept_attributes'])
    const twice = await keep(['plan', 'plan'])
    expect([twice.status, twice.data.issues[0].path]).toEqual([400, 'kept_attributes.1'])
    const accepted = await keep(names.slice(0, 50))
    expect(accepted.data.kept_attributes).toEqual(names.slice(0, 50))
    expect((await keep(null)).data.kept_attributes).toEqual([])
  })

  it('Observed contexts keep the listed attributes although no rule reads them', async () => {
    await keep(['user.plan', '__proto__'])
    await scene.clock.advance(20_000)
    const odd = JSON.parse('{"__proto__":"p"}')
    await scene.see({ ...user('ada', { plan: 'pro', secret: 's' }), ...odd })
    const { data } = await scene.storage.list('observedContext', {})
    const kept = { kind: 'user', key: 'ada', plan: 'pro' }
    expect(JSON.parse(JSON.stringify(data[0]?.contextJson))).toMatchObject(kept)
    expect(JSON.stringify(data[0]?.contextJson)).not.toContain('secret')
  })

  it('An attribute that is removed from the list and added again is unknown for contexts in between', async () => {
    const draft = ruleWith({ attribute: 'plan', operator: 'eq', value: 'pro' })
    const undetermined = async () => (await scene.impact([draft])).flags[0].undetermined
    await keep(['plan'])
    await scene.clock.advance(20_000)
    await scene.see(user('ada'))
    expect(await undetermined()).toBe(0)
    await keep([])
    await scene.clock.advance(20_000)
    await scene.see(user('bob'))
    await keep(['beta', 'plan'])
    expect(await undetermined()).toBe(2)
  })
})
