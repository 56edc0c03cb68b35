import { beforeEach, describe, expect, it } from 'vitest'
import { contextSampleIn } from '../world/scene.ts'
import type { Json } from '../world/world.ts'
import { openPreviewScene, type PreviewScene, user } from './preview-scene.ts'

const RULE_ID = '11111111-1111-4111-8111-111111111111'

let scene: PreviewScene

beforeEach(async () => {
  scene = await openPreviewScene()
  return () => scene.flags.close()
})

/** Returns a change that adds a rule which serves `light`. */
const serveLight = (conditions: readonly Json[], more: Json = {}): Json => ({
  kind: 'flag_configuration',
  flag_id: 'theme',
  configuration: {
    state: { is_active: true },
    targeting_rules: [{ id: RULE_ID, name: 'Plan', conditions, variation_id: 'light', ...more }],
    rollouts: [],
  },
})

const isPro = { attribute: 'plan', operator: 'eq', value: 'pro' }

/** Changes settings of `live`, and waits until all servers use them. */
async function set(body: Json): Promise<Json> {
  const { tokens } = scene.mine
  const changed = await scene.send('PUT', scene.live, { body, token: tokens.admin })
  await scene.clock.advance(20_000)
  return changed
}

const theFlag = (impact: Json): Json => impact.flags[0]

describe('POST /projects/{projectId}/envs/{envId}/preview', () => {
  it('A preview contains the contexts to which a draft serves another variation, with examples', async () => {
    await set({ kept_attributes: ['plan'] })
    await scene.see(user('ada', { plan: 'pro' }), user('bob', { plan: 'free' }))
    await scene.see(user('eve', { plan: 'pro' }), user('ada', { plan: 'pro' }))
    const { took_ms, ...impact } = await scene.impact([serveLight([isPro])], { examples: 1 })
    expect(took_ms).toBeGreaterThanOrEqual(0)
    expect(impact).toEqual({
      version: 1,
      at: '2030-01-01T00:00:24.000Z',
      contexts: {
        ...{ in_window: 3, evaluated: 3, is_sample: false, evaluations: 4 },
        oldest: '2030-01-01T00:00:20.000Z',
      },
      unknown_attributes: [],
      flags: [
        {
          ...{ flag_id: scene.mine.flag.id, key: 'theme' },
          ...{ changed: 2, reason_only: 1, undetermined: 0 },
          before: [{ variation_key: 'dark', contexts: 3 }],
          after: [
            { variation_key: 'dark', contexts: 1 },
            { variation_key: 'light', contexts: 2 },
          ],
          moves: [
            {
              ...{ from: 'dark', to: 'light', contexts: 2, evaluations: 3, share: 66.67 },
              ...{ from_reason: 'STATIC', to_reason: 'TARGETING_MATCH', to_rule_id: RULE_ID },
              examples: [{ kind: 'user', key: 'ada', last_seen: '2030-01-01T00:00:22.000Z' }],
            },
          ],
        },
      ],
      complete: true,
    })
  })

  it('A preview writes nothing and counts nothing, and no log or audit entry contains a key of a context', async () => {
    await set({ kept_attributes: ['plan'] })
    await scene.see(user('ada', { plan: 'pro' }))
    const everything = async () => {
      const kinds = [
        'auditEvent',
        'webhookDelivery',
        'flagState',
        'targetingRule',
        'segment',
      ] as const
      const records = await Promise.all(kinds.map((kind) => scene.storage.list(kind, {})))
      const contexts = await scene.storage.list('observedContext', {})
      const versions = await scene.storage.listVersions(scene.mine.live, { page: 1, limit: 9 })
      return JSON.stringify([records, contexts, versions])
    }
    const before = await everything()
    expect(theFlag(await scene.impact([serveLight([isPro])])).changed).toBe(1)
    await scene.clock.advance(5000)
    expect(await everything()).toBe(before)
    const { data } = await scene.storage.list('auditEvent', {})
    expect(JSON.stringify(data)).not.toContain('"ada"')
  })

  it('The result of a context is undetermined if it depends on an attribute that was dropped', async () => {
    await scene.see(user('ada', { plan: 'pro', beta: true }), user('bob'))
    const draft = serveLight([isPro])
    const unknown = await scene.impact([draft])
    expect(unknown.unknown_attributes).toEqual(['plan'])
    expect(theFlag(unknown)).toMatchObject({
      changed: 0,
      reason_only: 0,
      undetermined: 2,
      moves: [],
    })
    await set({ kept_attributes: ['plan'] })
    expect(theFlag(await scene.impact([draft])).undetermined).toBe(2)
    await scene.see(user('ada', { plan: 'pro', beta: true }), user('bob'))
    // An equal preview within 30 seconds would return the cached answer.
    await scene.clock.advance(30_000)
    const known = await scene.impact([draft])
    // Ada's first record has another fingerprint, because it lacks the plan.
    expect(theFlag(known)).toMatchObject({ changed: 1, reason_only: 1, undetermined: 1 })
    const both = serveLight([isPro, { attribute: 'beta', operator: 'eq', value: true }])
    const partly = await scene.impact([both])
    expect(partly.unknown_attributes).toEqual(['beta', 'plan'])
    // Bob's plan is known to be absent, so that his value of `beta` does not matter.
    expect(theFlag(partly)).toMatchObject({ changed: 0, reason_only: 1, undetermined: 2 })
  })

  it('With the context privacy all, every result is determined', async () => {
    await set({ context_privacy: 'all' })
    await scene.see(user('ada', { plan: 'pro' }), user('bob'))
    const impact = await scene.impact([serveLight([isPro])])
    expect(theFlag(impact)).toMatchObject({ changed: 1, reason_only: 1, undetermined: 0 })
  })

  it('A preview is refused with 409 if the environment stores no contexts', async () => {
    await set({ context_privacy: 'none' })
    const { status, data } = await scene.preview([serveLight([])])
    expect([status, data]).toEqual([409, { code: 'PREVIEW_WITHOUT_CONTEXTS' }])
  })

  it('A preview of a window without contexts evaluates none', async () => {
    await scene.see(user('ada'))
    await scene.clock.advance(2 * 3_600_000)
    const impact = await scene.impact([serveLight([])], { window_hours: 1 })
    expect(impact.contexts).toEqual({
      ...{ in_window: 0, evaluated: 0, is_sample: false, oldest: null, evaluations: 0 },
    })
    expect(theFlag(impact)).toMatchObject({ changed: 0, undetermined: 0, before: [], moves: [] })
    expect((await scene.impact([serveLight([])], { window_hours: 3 })).contexts.in_window).toBe(1)
  })

  it('A sample consists of the contexts with the smallest hashes, and is the same for each draft', async () => {
    const hashes = Array.from({ length: 250 }, (_, n) =>
      String((n * 7919) % 1000).padStart(32, '0'),
    )
    const tenant = { live: { id: scene.mine.live }, orgId: scene.mine.orgId } as never
    const samples = hashes.map((hash) => {
      const context = { kind: 'user', key: hash }
      const lastSeen = '2030-01-01T00:00:00.000Z'
      return contextSampleIn(tenant, { hash, key: hash, contextJson: context, lastSeen })
    })
    await scene.storage.recordContextSamples(samples)
    const more = { max_contexts: 100, examples: 20 }
    const impact = await scene.impact([serveLight([])], more)
    expect(impact.contexts).toMatchObject({ in_window: 250, evaluated: 100, is_sample: true })
    expect(impact.complete).toBe(true)
    expect(theFlag(impact).changed).toBe(100)
    const smallest = new Set([...hashes].sort().slice(0, 100))
    for (const { key } of theFlag(impact).moves[0].examples) expect(smallest.has(key)).toBe(true)
    const other = await scene.impact([serveLight([{ ...isPro, operator: 'not_exists' }])], more)
    expect(other.contexts).toEqual(impact.contexts)
  })

  it('A preview that reaches its limit of time returns what it has evaluated', async () => {
    const tenant = { live: { id: scene.mine.live }, orgId: scene.mine.orgId } as never
    const lastSeen = '2030-01-01T00:00:00.000Z'
    const samples = Array.from({ length: 300 }, () => contextSampleIn(tenant, { lastSeen }))
    await scene.storage.recordContextSamples(samples)
    let now = scene.clock.monotonicNow()
    scene.clock.monotonicNow = () => {
      now += 20
      return now
    }
    const impact = await scene.impact([serveLight([])])
    expect(impact.complete).toBe(false)
    expect(impact.contexts).toMatchObject({ in_window: 300, is_sample: true })
    expect(impact.contexts.evaluated).toBeGreaterThan(50)
    expect(impact.contexts.evaluated).toBeLessThan(150)
    expect(theFlag(impact).changed).toBe(impact.contexts.evaluated)
  })

  it('A flag whose value of a variation changes has changed contexts, and so has an archived flag', async () => {
    await scene.see(user('ada'))
    const variations = [
      { key: 'dark', value: 'black' },
      { key: 'light', value: 'light' },
    ]
    const changed = await scene.impact([{ kind: 'flag', flag_id: 'theme', variations }])
    expect(theFlag(changed).moves[0]).toMatchObject({ from: 'dark', to: 'dark', contexts: 1 })
    const archived = await scene.impact([{ kind: 'flag', flag_id: 'theme', archived: true }])
    expect(theFlag(archived).moves[0]).toMatchObject({ from: 'dark', to: null, to_reason: 'ERROR' })
  })

  it('The explanations of a preview have the form of an evaluation, for both sides', async () => {
    const context = user('ada', { plan: 'pro' })
    const explain = { context, flag_key: 'theme' }
    const { explanations } = await scene.impact([serveLight([isPro])], { explain })
    const { published, draft } = explanations
    const now = await scene.done('POST', `${scene.live}/evaluate`, { ...explain, at: published.at })
    expect(published).toEqual(now)
    expect(draft.flags[0]).toMatchObject({ variation_key: 'light', reason: 'TARGETING_MATCH' })
    const path = `${scene.theme}/configuration`
    const { headers } = await scene.send('GET', path)
    const tag = { 'if-match': headers.get('etag') ?? '' }
    const body = serveLight([isPro]).configuration
    await scene.send('PUT', path, { body, headers: tag })
    const later = await scene.done('POST', `${scene.live}/evaluate`, { ...explain, at: draft.at })
    expect(draft.flags).toEqual(later.flags)
    const archived = { kind: 'flag', flag_id: 'theme', archived: true }
    const gone = await scene.impact([archived], { explain })
    expect(gone.explanations.draft).toBeNull()
    const unknown = { explain: { context, flag_key: '__proto__' } }
    expect((await scene.preview([archived], unknown)).status).toBe(404)
  })

  it('An equal preview returns the cached answer for 30 seconds, unless a version is published', async () => {
    await scene.see(user('ada'))
    const draft = serveLight([])
    const { at } = await scene.impact([draft])
    await scene.clock.advance(20_000)
    expect((await scene.impact([draft])).at).toBe(at)
    await scene.done('PUT', scene.theme, { off_variation_id: null })
    expect((await scene.impact([draft])).at).not.toBe(at)
    await scene.clock.advance(31_000)
    expect((await scene.impact([draft])).at).toBe('2030-01-01T00:00:53.000Z')
  })

  it('A change of the environment that is promoted changes the answer at once', async () => {
    await scene.see(user('ada'))
    const promotion = { kind: 'promotion', flag_id: 'theme', from_env_id: 'staging' }
    expect(theFlag(await scene.impact([promotion]))?.changed ?? 0).toBe(0)
    const { live, staging: source } = scene.mine
    const staging = scene.theme.replace(live, source)
    await scene.done('PUT', staging, { default_variation_id: 'light' })
    expect(theFlag(await scene.impact([promotion])).changed).toBe(1)
  })

  it('A preview succeeds if the flag is published while the draft is applied', async () => {
    await scene.see(user('ada'))
    for (const variation_id of ['light', 'dark', 'light', 'dark']) {
      const changes = [serveLight([isPro], { name: variation_id })]
      const [answer] = await Promise.all([
        scene.preview(changes),
        scene.done('PUT', scene.theme, { default_variation_id: variation_id }),
      ])
      expect([answer.message, answer.status]).toEqual(['OK', 200])
    }
  })

  it('Of three previews at once in one organization the third is refused with 429, and others are not affected', async () => {
    await scene.see(user('ada'))
    const previews = [1, 2, 3].map((n) => scene.preview([serveLight([])], { window_hours: n }))
    const { projectId, live, tokens } = scene.theirs
    const body = { changes: [{ kind: 'flag', flag_id: 'theme', archived: true }] }
    const path = `/projects/${projectId}/envs/${live}/preview`
    const theirs = scene.send('POST', path, { body, token: tokens.viewer })
    const answers = await Promise.all(previews)
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(answers[2]?.headers.get('retry-after')).toBe('1')
    expect((await theirs).status).toBe(200)
    expect((await scene.preview([serveLight([])])).status).toBe(200)
  })
})
