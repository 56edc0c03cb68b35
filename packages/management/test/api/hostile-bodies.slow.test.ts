import type { EndpointName } from '@ff/protocol/management'
import { memory } from '@ff/storage'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  expectRefused,
  GUARDED,
  KEYED_PARAMS,
  OPEN_QUERIES,
  PERSONAL,
  PROTOTYPE_NAMES,
  paramsIn,
  table,
  WITH_BODY,
} from '../world/refusals.ts'
import { addressOf, ask, createScene, NAMES, type Scene, tracesOf } from '../world/scene.ts'
import type { Answer, Json } from '../world/world.ts'

/** Fields with an object in which the caller chooses the names. */
const FREE_OBJECTS = ['metadata_updates', 'context']

/**
 * The scene of all tests. The tests can share the scene, because refused requests change nothing.
 */
let scene: Scene
let token: string
let before: unknown

beforeAll(async () => {
  // Running the transactions of refused requests twice would only take time.
  scene = await createScene({}, memory().storage)
  token = scene.mine.tokens.platform
  before = await tracesOf(scene)
})

const expectUnchanged = async () => expect(await tracesOf(scene)).toEqual(before)

function askWith(name: EndpointName, body: Json): Promise<Answer> {
  return ask({ ...scene, bodies: { [name]: body } }, name, token)
}

describe('Property names that every object inherits', () => {
  it.each(WITH_BODY)(
    'Inherited property names are refused as fields of the body of %s',
    async (name) => {
      const text = JSON.stringify(scene.bodies[name])
      for (const field of PROTOTYPE_NAMES) {
        const body = text.replace('{', `{"${field}":{"admin":true},`).replace(',}', '}')
        const answer = await askWith(name, body)
        expectRefused(answer, [name, field])
        expect(answer.data.issues[0].path).toContain(field)
      }
      const deep = text
        .replaceAll(/\{(?!")|\{(?=")/g, '{"__proto__":{"admin":true},')
        .replaceAll(',}', '}')
      expectRefused(await askWith(name, deep), [name, 'deep'])
      await expectUnchanged()
      expect(Reflect.get({}, 'admin')).toBeUndefined()
    },
  )

  it.each(NAMES.filter((name) => paramsIn(name).length > 0))(
    'Inherited property names are refused as ids and keys of %s',
    async (name) => {
      for (const param of paramsIn(name)) {
        // A name can be the key of a record that does not exist.
        const isKey = paramsIn(name).includes('projectId') && KEYED_PARAMS.includes(param)
        const statuses = isKey ? [400, 404] : [400]
        for (const value of [
          ...PROTOTYPE_NAMES,
          '%5F%5Fproto%5F%5F',
          '0',
          'null',
          '*',
          "'",
          '..',
        ]) {
          const params = { ...scene.params, [param]: value }
          if (param === 'version' && value === '*') continue
          const answer = await ask({ ...scene, params }, name, token)
          expectRefused(answer, [name, param, value], statuses)
        }
      }
      await expectUnchanged()
    },
  )

  const closed = NAMES.filter((name) => !OPEN_QUERIES.includes(name))

  it.each(closed)(
    'Inherited property names are refused as query parameters of %s',
    async (name) => {
      for (const field of [...PROTOTYPE_NAMES, 'access_token', 'x'.repeat(5000)]) {
        const address = addressOf(scene, name, `${field}=1`)
        const { method } = table[name]
        const answer = await scene.world.call(method, address, { token, body: scene.bodies[name] })
        expectRefused(answer, [name, field.slice(0, 20)])
      }
      await expectUnchanged()
    },
  )

  it.each(GUARDED)('Inherited property names as headers do not authorize %s', async (name) => {
    const headers = Object.fromEntries(PROTOTYPE_NAMES.map((field) => [field, 'true']))
    expect((await ask(scene, name, undefined, headers)).status).toBe(401)
  })
})

/** Texts that no field of any body accepts. */
const REFUSED_TEXTS: readonly [string, string][] = [
  ['NUL', 'a\0b'],
  ['half a character', 'a\ud800'],
  ['a megabyte', 'x'.repeat(1024 * 1024)],
]

/** Values that some fields accept, and that must not cause an internal error in any field. */
const ODD_VALUES: readonly Json[] = [
  null,
  true,
  -1,
  0,
  1.5,
  1e308,
  '',
  ' ',
  'a\r\nBcc: everybody@example.test',
  '<script>alert(1)</script>',
  'javascript:alert(1)',
  "'; drop table ff_flag; --",
  '../../etc/passwd',
  '\u202e',
  [],
  [null],
  [[]],
  {},
  '__proto__',
]

describe.each(WITH_BODY)('The body of %s', (name) => {
  it('A body is refused if one of its fields has an unusable value', async () => {
    for (const field of Object.keys(scene.bodies[name] ?? {})) {
      for (const [what, text] of REFUSED_TEXTS) {
        const answer = await askWith(name, { ...scene.bodies[name], [field]: text })
        expectRefused(answer, [name, field, what], [400, 413])
      }
      if (FREE_OBJECTS.includes(field)) continue
      for (const value of [{ unexpected: 1 }, [{ unexpected: 1 }], [[[[]]]]]) {
        const answer = await askWith(name, { ...scene.bodies[name], [field]: value })
        expectRefused(answer, [name, field, value])
      }
    }
    await expectUnchanged()
  })

  it('A body with odd values is accepted, or refused without an effect and without an internal error', async () => {
    let own = await createScene()
    let untouched = await tracesOf(own)
    for (const field of Object.keys(scene.bodies[name] ?? {})) {
      for (const value of ODD_VALUES) {
        const bodies = { [name]: { ...own.bodies[name], [field]: value } }
        const answer = await ask({ ...own, bodies }, name, own.mine.tokens.platform)
        expect(answer.status, JSON.stringify([field, value])).toBeLessThan(500)
        const isAccepted = answer.status < 300
        if (!isAccepted) expectRefused(answer, [name, field, value], [400, 401, 403, 404, 409])
        // A refused log-in leaves a trace on purpose.
        const hasTrace = isAccepted || PERSONAL.includes(name)
        if (!hasTrace) expect(await tracesOf(own)).toEqual(untouched)
        else {
          own = await createScene()
          untouched = await tracesOf(own)
        }
      }
    }
  })

  it('A body is refused if one of its ids is unknown, malformed or of another organization', async () => {
    const { theirs } = scene
    const foreign = [theirs.project.id, theirs.live.id, theirs.orgId, crypto.randomUUID(), 'x', '']
    for (const [field, value] of Object.entries(scene.bodies[name] ?? {})) {
      if (!/(_id|copy_from)$/.test(field) || typeof value !== 'string') continue
      for (const id of foreign) {
        const answer = await askWith(name, { ...scene.bodies[name], [field]: id })
        expectRefused(answer, [name, field, id], [400, 404])
      }
    }
    await expectUnchanged()
  })

  it('A body is refused if it is too large, is not a JSON object, or has an unknown field', async () => {
    const { maxBodyBytes = 256 * 1024 } = table[name]
    const tooLarge = await askWith(name, { pad: 'x'.repeat(maxBodyBytes) })
    expectRefused(tooLarge, [name, 'too large'], [413])
    for (const body of ['', '{', 'null', '[]', '1', '"x"', '{"unknown":1}']) {
      expectRefused(await askWith(name, body), [name, body])
    }
    await expectUnchanged()
  })
})

describe('Checks of single fields', () => {
  it.each<[EndpointName, Json]>([
    ['addMember', { email: 'a@b.test\r\nBcc: c@d.test', role: 'viewer' }],
    ['addMember', { email: 'no address', role: 'viewer' }],
    ['addMember', { email: 'a@b.test', role: 'platform' }],
    ['updateOrganization', { billing_email: 'a@b.test\nBcc: c@d.test' }],
    [
      'createTargetingRule',
      { name: 'r', conditions: [{ attribute: 'a', operator: 'resembles', value: '1' }] },
    ],
    [
      'createTargetingRule',
      { name: 'r', conditions: [{ attribute: 'a', operator: 'toString', value: '1' }] },
    ],
    [
      'createTargetingRule',
      { name: 'r', conditions: [{ attribute: 'a', operator: 'matches', value: '(' }] },
    ],
    ['createTargetingRule', { name: 'r', order_index: 1e21 }],
    ['createRollout', { name: 'r', strategy: 'percentage', percentage: 100.001 }],
    ['createSdkKey', { name: 'k', kind: 'root' }],
    ['createSdkKey', { name: 'k', kind: 'client', rate_limit: -1 }],
    ['createAccessToken', { name: 't', role: 'god' }],
    ['createFlag', { key: 'x', type: 'boolean', created_at: '2020-01-01T00:00:00.000Z' }],
  ])('%s refuses the body %j', async (name, body) => {
    expectRefused(await askWith(name, body), [name, body])
    await expectUnchanged()
  })
})
