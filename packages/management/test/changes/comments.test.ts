import { isFlagError } from '@ff/core'
import { type EndpointName, endpoints } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/openapi/openapi.ts'
import { table } from '../world/refusals.ts'
import { addressOf, ask, createScene, NAMES, type Scene, tracesOf } from '../world/scene.ts'
import { addressesOf, type Json, SYSTEM_ACTOR } from '../world/world.ts'

const HEADER = 'x-ff-comment'
const FIELD = 'X-FF-Comment'
/** The endpoints that change a resource. A POST that only reads is no change. */
const CHANGES = NAMES.filter((name) => {
  const { method, permission } = table[name]
  return method !== 'GET' && !/^(anyone|oneself|.*\.read)$/.test(permission)
})

const encoded = (comment: string) => ({ [HEADER]: encodeURIComponent(comment) })

describe('The comment of a change', () => {
  let scene: Scene
  let token: string

  beforeEach(async () => {
    scene = await createScene()
    token = scene.mine.tokens.platform
  })

  const rename = (headers: Readonly<Record<string, string>>, name: string = crypto.randomUUID()) =>
    scene.world.call('PUT', addressOf(scene, 'updateFlag'), { token, headers, body: { name } })
  const newest = async () => (await scene.world.audit()).filter(isOfMine).at(-1)
  const isOfMine = ({ id }: { id: string }) => id.startsWith(`changes:${scene.mine.orgId}`)

  it.each(CHANGES)('The audit entry of %s contains the comment', async (name) => {
    const before = new Set((await scene.world.audit()).map(({ id }) => id))
    const answer = await ask(scene, name, token, encoded('Because — 🚀'))
    expect(answer.status).toBe(endpoints[name].status)
    const added = (await scene.world.audit()).filter(({ id }) => !before.has(id))
    const isAudited = name !== 'createCheckout'
    expect(added.map(({ comment }) => comment)).toEqual(isAudited ? ['Because — 🚀'] : [])
  })

  it.each(CHANGES)('%s with a malformed comment is refused and changes nothing', async (name) => {
    const before = await tracesOf(scene)
    const answer = await ask(scene, name, token, { [HEADER]: '%E0%A4%A' })
    expect([answer.status, answer.data.issues[0].path]).toEqual([400, FIELD])
    expect(await tracesOf(scene)).toEqual(before)
  })

  it.each([
    '<img src=x onerror=alert(1)>',
    'right\u200fto\u202eleft',
    '__proto__',
    'constructor',
    '👩‍👩‍👧‍👦 é ﷺ',
    '😀'.repeat(1000),
    ' 100 % + 2 ',
    'x',
    '"; drop table ff_flag; --',
  ])('The comment %j is returned unchanged as data', async (comment) => {
    expect((await rename(encoded(comment))).status).toBe(200)
    const { data } = await scene.world.call('GET', '/audit/logs?limit=1', { token })
    expect(data.data[0].comment).toBe(comment)
    expect((await newest())?.comment).toBe(comment)
    const verified = await scene.world.call('GET', '/audit/verify', { token })
    expect(verified.data.valid).toBe(true)
  })

  it.each([
    ['malformed percent encoding', '%'],
    ['malformed percent encoding', 'a%2'],
    ['malformed percent encoding', '%zz'],
    ['bytes that are not UTF-8', '%ff'],
    ['an encoded surrogate', '%ED%A0%80'],
    ['an overlong encoding', '%C0%80'],
    ['text that is not encoded', 'é'],
    ['no character', ''],
    ['only spaces', '%20%20'],
    ['only invisible characters', '%E2%80%8B%E2%80%8F'],
    ['a line break', 'a%0Ab'],
    ['NUL', 'a%00'],
    ['a C1 control character', '%C2%85'],
    ['1,001 characters', 'x'.repeat(1001)],
    ['1,001 characters outside the basic plane', encodeURIComponent('😀'.repeat(1001))],
    ['65,536 characters', 'x'.repeat(65_536)],
  ])('A comment with %s is refused with its header, and nothing changes', async (_, text) => {
    const before = await tracesOf(scene)
    const answer = await rename({ [HEADER]: text })
    expect([answer.status, answer.data.issues[0].path]).toEqual([400, FIELD])
    expect(answer.data.code).toBeUndefined()
    expect(await tracesOf(scene)).toEqual(before)
  })

  it('A change without the header has no comment', async () => {
    await rename({})
    expect((await newest())?.comment).toBeNull()
  })

  it('An unchanged record with an empty comment is refused too', async () => {
    await rename({}, 'same')
    expect((await rename({ [HEADER]: '' }, 'same')).status).toBe(400)
  })

  it('A request that only reads ignores the header', async () => {
    for (const name of ['getFlag', 'explainEvaluation'] as const) {
      expect((await ask(scene, name, token, { [HEADER]: '%' })).status).toBe(200)
    }
  })

  it('A call in process passes a comment, which is checked in the same way', async () => {
    const management = scene.world.as(SYSTEM_ACTOR)
    const { projectId = '', flagId = '' } = scene.params
    const update = (comment: string) => {
      const body = { name: crypto.randomUUID() }
      return management.updateFlag({ params: { projectId, flagId }, body, comment })
    }
    await update('In process')
    expect((await newest())?.comment).toBe('In process')
    const before = await tracesOf(scene)
    for (const wrong of ['', ' ', 'a\nb', '\ud800', 'x'.repeat(1001), 7 as never]) {
      const error = await update(wrong).catch((thrown: unknown) => thrown)
      if (!isFlagError(error)) throw new Error('The comment must be refused.')
      expect([error.code, (error.details as Json).issues[0].path]).toEqual([
        'INVALID_REQUEST',
        FIELD,
      ])
    }
    expect(await tracesOf(scene)).toEqual(before)
  })

  it('A repeated request returns the first result whatever its comment', async () => {
    const { flags } = addressesOf(scene.mine)
    const body = { key: 'once', type: 'boolean' }
    const send = (comment: string) => {
      const headers = { 'idempotency-key': 'k', [HEADER]: comment }
      return scene.world.call('POST', flags, { token, body, headers })
    }
    const first = await send('First')
    const traces = await tracesOf(scene)
    for (const comment of ['Second', 'First', '']) {
      expect((await send(comment)).text).toBe(first.text)
    }
    expect(await tracesOf(scene)).toEqual(traces)
    expect((await newest())?.comment).toBe('First')
  })

  it('Every operation that changes a resource describes the header, and no other operation', () => {
    const document: Json = openApiDocument({ basePath: '' })
    const described = (name: EndpointName) => {
      const { path, method } = endpoints[name]
      const { parameters } = document.paths[path][method.toLowerCase()]
      return parameters.some(({ $ref }: Json) => $ref === '#/components/parameters/Comment')
    }
    expect(NAMES.filter(described)).toEqual(CHANGES)
    expect(document.components.parameters.Comment.name).toBe(FIELD)
  })
})
