import { beforeEach, describe, expect, it } from 'vitest'
import { type Answer, addressesOf, type Json } from '../world/world.ts'
import {
  type ConfigurationScene,
  configurationOf,
  createConfigurationScene,
  newId,
} from './configuration-scene.ts'

let scene: ConfigurationScene

beforeEach(async () => {
  scene = await createConfigurationScene()
  await scene.publish(configurationOf(scene))
})

const traces = async () => [
  await scene.world.version(scene.tenant.live),
  await scene.world.audit(),
  await scene.read(),
]

/** Asserts that a configuration is refused with an issue about a field, and changes nothing. */
async function expectRefusal(send: () => Promise<Answer>, path: string, status = 400) {
  const before = await traces()
  const { data, message, status: answered } = await send()
  expect([answered, message, data?.issues?.[0]?.path]).toEqual([status, message, path])
  expect(await traces()).toEqual(before)
}

/** Publishes the present configuration with a changed rule or rollout at the first place. */
async function publishWith(changes: { state?: Json; rule?: Json; rollout?: Json }) {
  const { document } = await scene.read()
  const { revision: _, ...content } = document
  const [rule, ...rules] = content.targeting_rules
  const [rollout, ...rollouts] = content.rollouts
  return scene.publish({
    state: { ...content.state, ...changes.state },
    targeting_rules: [{ ...rule, ...changes.rule }, ...rules],
    rollouts: [{ ...rollout, ...changes.rollout }, ...rollouts],
  })
}

const FAULTS: readonly (readonly [string, Parameters<typeof publishWith>[0], string])[] = [
  ['without is_active', { state: { is_active: undefined } }, 'state.is_active'],
  [
    'with an unknown default',
    { state: { default_variation_id: 'w' } },
    'state.default_variation_id',
  ],
  [
    'with a target of an unknown variation',
    { state: { targets: [{ variation_id: 'w', kind: 'user', keys: [] }] } },
    'state.targets.0.variation_id',
  ],
  [
    'with a key that is listed twice',
    { state: { targets: [{ variation_id: 'x', kind: 'user', keys: ['a', 'a'] }] } },
    'state.targets.0.keys',
  ],
  [
    'with an unknown prerequisite',
    { state: { prerequisites: [{ flag_id: 'none', variation_ids: ['x'] }] } },
    'state.prerequisites.0.flag_id',
  ],
  [
    'that requires itself',
    { state: { prerequisites: [{ flag_id: 'theme', variation_ids: ['x'] }] } },
    'state.prerequisites.0.flag_id',
  ],
  ['with a rule without an id', { rule: { id: undefined } }, 'targeting_rules.0.id'],
  ['with a rule whose id is a key', { rule: { id: 'beta' } }, 'targeting_rules.0.id'],
  ['with a rule without a name', { rule: { name: undefined } }, 'targeting_rules.0.name'],
  [
    'with a rule of an unknown variation',
    { rule: { variation_id: 'w' } },
    'targeting_rules.0.variation_id',
  ],
  [
    'with a rule of an unknown segment',
    { rule: { segment_id: newId() } },
    'targeting_rules.0.segment_id',
  ],
  [
    'with a segment rule without a segment',
    { rule: { kind: 'segment', segment_id: null } },
    'targeting_rules.0.segment_id',
  ],
  [
    'with a rule without conditions',
    { rule: { conditions: undefined } },
    'targeting_rules.0.conditions',
  ],
  [
    'with an invalid regular expression',
    { rule: { conditions: [{ attribute: 'user.a', operator: 'regex', value: '(' }] } },
    'targeting_rules.0.conditions.0',
  ],
  [
    'with an unknown operator',
    { rule: { conditions: [{ attribute: 'user.a', operator: 'like', value: 'a' }] } },
    'targeting_rules.0.conditions.0',
  ],
  [
    'with a condition on an unknown segment',
    { rule: { conditions: [{ attribute: '', operator: 'in_segment', value: newId() }] } },
    'targeting_rules.0.conditions.0',
  ],
  ['with the order index of a rule', { rule: { order_index: 0 } }, 'targeting_rules.0.order_index'],
  [
    'with a rule of an unknown rollout',
    { rule: { rollout_id: newId() } },
    'targeting_rules.0.rollout_id',
  ],
  [
    'with a rule with a long name',
    { rule: { name: 'n'.repeat(65_536) } },
    'targeting_rules.0.name',
  ],
  ['with a right-to-left override', { rule: { name: 'abc\u202E' } }, 'targeting_rules.0.name'],
  [
    'with a value that is too long',
    { rule: { conditions: [{ attribute: 'user.a', value: 'v'.repeat(65_537) }] } },
    'targeting_rules.0.conditions.0.value',
  ],
  ['with a field __proto__', { rule: JSON.parse('{"__proto__":{}}') }, '__proto__'],
  ['with a percentage above 100', { rollout: percentageOf(100.001) }, 'rollouts.0.percentage'],
  ['with a negative percentage', { rollout: percentageOf(-1) }, 'rollouts.0.percentage'],
  [
    'with a rollout without its percentage',
    { rollout: percentageOf(null) },
    'rollouts.0.percentage',
  ],
  ['with weights above 100', { rollout: variantsOf({ x: 60, y: 60 }) }, 'rollouts.0.variants'],
  [
    'with an unknown variant',
    { rollout: variantsOf({ w: 60 }) },
    'rollouts.0.variants.0.variation_id',
  ],
  ['with a dot in a salt', { rollout: { salt: 'a.b' } }, 'rollouts.0.salt'],
  ['with an unknown scheme', { rollout: { scheme: 'none' } }, 'rollouts.0.scheme'],
  ['with a field of another strategy', { rollout: { increment: 5 } }, 'rollouts.0.increment'],
]

function percentageOf(percentage: number | null): Json {
  return { strategy: 'percentage', variation_id: 'x', percentage, variants: null }
}

function variantsOf(weights: Readonly<Record<string, number>>): Json {
  const variants = Object.entries(weights).map(([key, weight]) => ({ variation_id: key, weight }))
  return { strategy: 'variant', variants, variation_id: null, percentage: null }
}

describe('A refused configuration', () => {
  it.each(FAULTS)('A configuration %s is refused with its field', async (_, changes, path) => {
    await expectRefusal(() => publishWith(changes), path)
  })

  it('A configuration is refused without If-Match, with * and with a malformed tag', async () => {
    const { document } = await scene.read()
    const body = { ...document, state: { is_active: false } }
    const { world, state, tenant } = scene
    for (const headers of [
      {},
      { 'if-match': '*' },
      { 'if-match': 'x' },
      { 'if-match': '"1", "2"' },
    ]) {
      const input = { token: tenant.tokens.editor, body, headers }
      await expectRefusal(() => world.call('PUT', `${state}/configuration`, input), 'If-Match')
    }
  })

  it('The revision in a document is read-only', async () => {
    const { document, etag } = await scene.read()
    const { revision } = document
    for (const other of [revision + 1, String(revision), null, {}]) {
      const body = { ...document, state: { is_active: false }, revision: other }
      await expectRefusal(() => scene.publish(body, etag), 'revision')
      await expectRefusal(() => scene.publish({ ...body, dry_run: true }, etag), 'revision')
    }
    await expectRefusal(() => scene.publish({ ...document, unknown: 1 }, etag), 'unknown')
  })

  it('A stale configuration is refused with the current one, its version and the last actor', async () => {
    const { world, state, tenant } = scene
    const { document, etag } = await scene.read()
    const path = `${state}/targeting-rules/${document.targeting_rules[0].id}`
    await world.call('PUT', path, { token: tenant.tokens.admin, body: { conditions: [] } })
    const key = { key: 'other', type: 'boolean' }
    await world.call('POST', addressesOf(tenant).flags, { token: tenant.tokens.owner, body: key })
    const before = await traces()
    for (const body of [document, { ...document, dry_run: true }, configurationOf(scene)]) {
      const { status, data } = await scene.publish(body, etag)
      expect(status).toBe(409)
      expect(data).toEqual({
        configuration: (await scene.read()).document,
        version: await world.version(tenant.live),
        changed_by: 'Acme admin',
      })
    }
    expect(await traces()).toEqual(before)
  })

  it('The last actor is null if the change is not among the last 100 versions', async () => {
    const { world, state, tenant } = scene
    const { document, etag } = await scene.read()
    const { status } = await scene.as('PUT', state, { is_active: false })
    expect(status).toBe(200)
    const other = addressesOf(tenant).live('other')
    await scene.as('POST', addressesOf(tenant).flags, { key: 'other', type: 'boolean' })
    for (let round = 0; round < 99; round += 1) {
      await scene.as('PUT', other, { is_active: round % 2 !== 0 })
    }
    const { data } = await scene.publish(document, etag)
    expect([data.changed_by, data.version]).toEqual([null, await world.version(tenant.live)])
  })

  it('The configuration of an archived flag can be read but not changed', async () => {
    const { tenant, flag } = scene
    await scene.as('PUT', addressesOf(tenant).flag(flag.id), { archived: true })
    const { document, etag } = await scene.read()
    await expectRefusal(
      () => scene.publish({ ...document, state: { is_active: false } }, etag),
      'flagId',
    )
    await expectRefusal(() => scene.publish({ ...document, dry_run: true }, etag), 'flagId')
  })

  it('The configuration of a deleted flag is not found', async () => {
    const { document, etag } = await scene.read()
    await scene.as('DELETE', addressesOf(scene.tenant).flag(scene.flag.id))
    expect(await scene.publish(document, etag)).toMatchObject({ status: 404, data: null })
  })

  it('A configuration with a deleted variation is refused with its field', async () => {
    const { document } = await scene.read()
    await scene.publish({
      ...document,
      rollouts: [],
      targeting_rules: [],
      state: { is_active: true },
    })
    const variation = `${addressesOf(scene.tenant).variations(scene.flag.id)}/${scene.idOf('y')}`
    expect((await scene.as('DELETE', variation)).status).toBe(200)
    const { revision: _, ...content } = document
    await expectRefusal(
      () => scene.publish({ ...content, targeting_rules: [] }),
      `rollouts.${placeOfY(content)}variation_id`,
    )
  })

  it('Two rules or rollouts with one id are refused with the second', async () => {
    const { document } = await scene.read()
    const { revision: _, ...content } = document
    const [first] = content.targeting_rules
    const [rollout] = content.rollouts
    const again = { ...first, name: 'Again', id: first.id.toUpperCase() }
    const rules = [...content.targeting_rules, again]
    await expectRefusal(
      () => scene.publish({ ...content, targeting_rules: rules }),
      'targeting_rules.2.id',
    )
    const rollouts = [...content.rollouts, { ...rollout, name: 'Again' }]
    await expectRefusal(() => scene.publish({ ...content, rollouts }), 'rollouts.2.id')
  })

  it('An id of another flag, environment or organization is refused, living or deleted', async () => {
    const { world, tenant } = scene
    const elsewhere = await createConfigurationScene(world, 'Other')
    const staging = addressesOf(tenant).staging(scene.flag.id)
    const rule = { name: 'r', conditions: [] }
    const half = { name: 'h', strategy: 'percentage', variation_id: 'x', percentage: 50 }
    for (const [asked, place] of [
      [elsewhere, elsewhere.state],
      [scene, staging],
    ] as const) {
      const { id } = (await asked.as('POST', `${place}/targeting-rules`, rule)).data
      const rolloutId = (await asked.as('POST', `${place}/rollouts`, half)).data.id
      for (const isDeleted of [false, true]) {
        if (isDeleted) {
          await asked.as('DELETE', `${place}/targeting-rules/${id}`)
          await asked.as('DELETE', `${place}/rollouts/${rolloutId}`)
        }
        for (const dry_run of [false, true]) {
          const body = { state: { is_active: true }, targeting_rules: [], rollouts: [], dry_run }
          const rules = [
            { ...rule, id: newId() },
            { ...rule, id },
          ]
          await expectRefusal(
            () => scene.publish({ ...body, targeting_rules: rules }),
            'targeting_rules.1.id',
            409,
          )
          const rollouts = [{ ...half, id: rolloutId }]
          await expectRefusal(() => scene.publish({ ...body, rollouts }), 'rollouts.0.id', 409)
        }
      }
    }
  })

  it('A segment of another project is refused, in a rule and in a condition', async () => {
    const { data: project } = await scene.world.call(
      'POST',
      `/organizations/${scene.tenant.orgId}/projects`,
      {
        token: scene.tenant.tokens.owner,
        body: { key: 'second' },
      },
    )
    const { data: segment } = await scene.as('POST', `/projects/${project.id}/segments`, {
      key: 's',
    })
    expect(segment.id).toBeDefined()
    await expectRefusal(
      () => publishWith({ rule: { segment_id: segment.id } }),
      'targeting_rules.0.segment_id',
    )
    const conditions = [{ attribute: '', operator: 'in_segment', value: segment.id }]
    await expectRefusal(
      () => publishWith({ rule: { conditions } }),
      'targeting_rules.0.conditions.0',
    )
  })

  it('A cycle of prerequisites is refused', async () => {
    const { as, tenant, flag } = scene
    await as('POST', addressesOf(tenant).flags, { key: 'other', type: 'boolean' })
    const on = [{ flag_id: flag.id, variation_ids: ['x'] }]
    await as('PUT', addressesOf(tenant).live('other'), { prerequisites: on })
    const prerequisites = [{ flag_id: 'other', variation_ids: ['true'] }]
    await expectRefusal(() => publishWith({ state: { prerequisites } }), 'state.prerequisites')
  })

  it('More than 500 rules or rollouts are refused, and a body of 1 MiB with 413', async () => {
    const rule = { name: 'r', conditions: [] }
    const half = { name: 'h', strategy: 'percentage', variation_id: 'x', percentage: 50 }
    const many = (part: Json) => Array.from({ length: 501 }, () => ({ ...part, id: newId() }))
    const body = { state: { is_active: true }, targeting_rules: [], rollouts: [] }
    await expectRefusal(
      () => scene.publish({ ...body, targeting_rules: many(rule) }),
      'targeting_rules',
    )
    await expectRefusal(() => scene.publish({ ...body, rollouts: many(half) }), 'rollouts')
    const value = 'v'.repeat(1024 * 1024)
    const long = [{ ...rule, id: newId(), conditions: [{ attribute: 'user.a', value }] }]
    const before = await traces()
    expect((await scene.publish({ ...body, targeting_rules: long })).status).toBe(413)
    expect(await traces()).toEqual(before)
  })

  it('A viewer reads the configuration but cannot change it', async () => {
    const { world, state, tenant } = scene
    const token = tenant.tokens.viewer
    const { data, headers } = await world.call('GET', `${state}/configuration`, { token })
    const before = await traces()
    const body = { ...data, state: { ...data.state, is_active: false } }
    for (const dry_run of [false, true]) {
      const sent = { ...body, dry_run }
      const input = { token, body: sent, headers: { 'if-match': headers['ETag'] ?? '' } }
      expect((await world.call('PUT', `${state}/configuration`, input)).status).toBe(403)
    }
    expect(await traces()).toEqual(before)
  })
})

/** Returns the path, below `rollouts`, of the first use of the variation `y`. */
function placeOfY({ rollouts }: Json): string {
  const [first] = rollouts
  return first.strategy === 'variant' ? '0.variants.1.' : '0.'
}

describe('Hostile text', () => {
  const TEXTS = [
    '<img src=x onerror=alert(1)>',
    '\u200Fרות\u200E',
    '👩‍🚀🚀',
    '__proto__',
    'constructor',
  ]

  it.each(TEXTS)('The text %s is returned unchanged in values, keys and salts', async (text) => {
    const conditions = [
      { attribute: `user.${text}`, operator: 'eq', value: text },
      { attribute: 'user.a', operator: 'in', value: JSON.stringify([text, 'v'.repeat(60_000)]) },
    ]
    const targets = [{ variation_id: scene.idOf('x'), kind: text, keys: [text] }]
    const rollout = { ...percentageOf(50), variation_id: scene.idOf('x'), salt: text }
    const answer = await publishWith({ state: { targets }, rule: { conditions }, rollout })
    expect([answer.status, answer.message]).toEqual([200, 'OK'])
    const { document } = await scene.read()
    expect(document.state.targets).toEqual(targets)
    expect(document.targeting_rules[0].conditions).toEqual(conditions)
    expect(document.rollouts[0].salt).toBe(text)
  })

  it.each(['<img src=x onerror=alert(1)>', '👩‍🚀🚀', '__proto__'])(
    'The name %s is returned unchanged',
    async (name) => {
      expect((await publishWith({ rule: { name }, rollout: { name } })).status).toBe(200)
      const { document } = await scene.read()
      expect([document.targeting_rules[0].name, document.rollouts[0].name]).toEqual([name, name])
    },
  )

  it('A condition value of 65,536 characters is returned unchanged', async () => {
    const conditions = [{ attribute: 'user.a', operator: 'eq', value: 'v'.repeat(65_536) }]
    expect((await publishWith({ rule: { conditions } })).status).toBe(200)
    expect((await scene.read()).document.targeting_rules[0].conditions).toEqual(conditions)
  })
})
