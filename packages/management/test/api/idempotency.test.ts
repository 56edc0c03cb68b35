import { endpoints } from '@ff/protocol/management'
import { beforeEach, describe, expect, it } from 'vitest'
import { PERSONAL } from '../world/refusals.ts'
import { ask, createScene, NAMES, type Scene, tracesOf } from '../world/scene.ts'
import type { Json } from '../world/world.ts'

/** Excludes the endpoints of log-ins, which create a new session for each request. */
const REPEATABLE = NAMES.filter(
  (name) => ['POST', 'PUT'].includes(endpoints[name].method) && !PERSONAL.includes(name),
)
const DAY_MS = 24 * 60 * 60 * 1000
const SECRET = /\b(?:ff(?:at|l)?_[0-9a-f]{64}\b|whsec_[A-Za-z0-9+/]{43}=)/

describe('A request with an Idempotency-Key', () => {
  let scene: Scene
  let token: string
  let rules: string

  beforeEach(async () => {
    scene = await createScene()
    token = scene.mine.tokens.editor
    rules = addressOfRules(scene)
  })

  const post = (key: string, body: Json, by = token, address = rules) =>
    scene.world.call('POST', address, { token: by, body, headers: { 'idempotency-key': key } })
  const remembered = async () => (await scene.world.storage.list('idempotencyRecord', {})).data

  it.each(REPEATABLE)(
    '%s with an Idempotency-Key runs once, and repetitions return its result without the secret',
    async (name) => {
      const headers = { 'idempotency-key': 'again-and-again' }
      const first = await ask(scene, name, scene.mine.tokens.platform, headers)
      expect(first.status).toBe(endpoints[name].status)
      const traces = await tracesOf(scene)
      const [secret] = SECRET.exec(first.text) ?? []
      const expected = first.text.replace(`"${secret}"`, 'null')
      for (let repeat = 0; repeat < 2; repeat += 1) {
        const again = await ask(scene, name, scene.mine.tokens.platform, headers)
        expect([again.status, again.text]).toEqual([first.status, expected])
        expect(again.headers['ETag']).toBe(first.headers['ETag'])
      }
      expect(await tracesOf(scene)).toEqual(traces)
      expect(JSON.stringify(await remembered())).not.toMatch(SECRET)
    },
  )

  it('A repeated request returns the first result even if the record has changed since', async () => {
    const first = await post('k', { conditions: [], name: 'first' })
    const rule = `${rules}/${first.data.id}`
    await scene.world.call('PUT', rule, { token, body: { name: 'renamed' } })
    expect((await post('k', { conditions: [], name: 'first' })).text).toBe(first.text)
    await scene.world.call('DELETE', rule, { token })
    expect((await post('k', { conditions: [], name: 'first' })).text).toBe(first.text)
  })

  it('A repeated Idempotency-Key with another body is refused and changes nothing', async () => {
    await post('k', { conditions: [], name: 'first' })
    const before = await tracesOf(scene)
    expect(await post('k', { conditions: [], name: 'second' })).toMatchObject({
      status: 409,
      data: null,
    })
    expect(await post('k', { conditions: [], name: 'first', order_index: 1 })).toMatchObject({
      status: 409,
    })
    expect(await tracesOf(scene)).toEqual(before)
  })

  it('A request with another key, actor or path is not a repetition', async () => {
    const body = { conditions: [], name: 'rule' }
    const staging = rules.replace(scene.mine.live.id, scene.mine.staging.id)
    const answers = [
      await post('k', body),
      await post('K', body),
      await post('k', body, scene.mine.tokens.admin),
      await post('k', body, token, staging),
    ]
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(new Set(answers.map(({ data }) => data.id)).size).toBe(4)
    const capitals = rules.replace(/[0-9a-f-]{36}/g, (id) => id.toUpperCase())
    expect((await post('k', body, token, capitals)).text).toBe(answers[0]?.text)
  })

  it('An Idempotency-Key is forgotten after 24 hours', async () => {
    const first = await post('k', { conditions: [], name: 'rule' })
    await scene.world.clock.advance(DAY_MS - 1)
    expect((await post('k', { conditions: [], name: 'rule' })).data.id).toBe(first.data.id)
    await scene.world.clock.advance(1)
    const later = await post('k', { conditions: [], name: 'another' })
    expect(later.status).toBe(201)
    expect(later.data.id).not.toBe(first.data.id)
    expect((await post('k', { conditions: [], name: 'another' })).data.id).toBe(later.data.id)
  })

  it('Idempotency records are deleted after 24 hours', async () => {
    for (let day = 0; day < 4; day += 1) {
      for (let n = 0; n < 5; n += 1) await post(`${day}-${n}`, { conditions: [], name: 'rule' })
      expect(await remembered()).toHaveLength(5)
      await scene.world.clock.advance(DAY_MS + 1)
    }
  })

  it('A refused request does not use up its Idempotency-Key', async () => {
    for (const refused of [
      { conditions: [], name: '' },
      { conditions: [], name: 'r', variation_id: crypto.randomUUID() },
    ]) {
      expect((await post('k', refused)).status).toBe(400)
    }
    expect((await post('k', { conditions: [], name: 'r' }, scene.mine.tokens.viewer)).status).toBe(
      403,
    )
    expect(await remembered()).toEqual([])
    expect((await post('k', { conditions: [], name: 'good' })).status).toBe(201)
  })

  it('Concurrent requests with the same Idempotency-Key run once', async () => {
    const before = (await scene.world.audit()).length
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => post('k', { conditions: [], name: 'rule' })),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.status).toBe(201)
    expect(await scene.world.audit()).toHaveLength(before + 1)
  })

  it('A repeated request is refused if its flag was deleted since', async () => {
    const body = { conditions: [], name: 'rule' }
    await post('k', body)
    await scene.world.call(
      'DELETE',
      rules.replace('/targeting-rules', '').replace(/envs\/[^/]+\//, ''),
      { token },
    )
    expect(await post('k', body)).toMatchObject({ status: 404, data: null })
  })

  it('An Idempotency-Key must have 1 to 255 visible ASCII characters', async () => {
    const body = { conditions: [], name: 'rule' }
    for (const key of ['', ' ', 'a b', 'é', 'a\tb', 'a, b', 'x'.repeat(256), 'a\0']) {
      const answer = await post(key, body)
      expect([key, answer.status]).toEqual([key, 400])
      expect(answer.data.issues[0].path).toBe('Idempotency-Key')
    }
    for (const key of ['x'.repeat(255), '__proto__', '!~"{}']) {
      expect((await post(key, body)).status).toBe(201)
    }
  })

  it('An Idempotency-Key has no effect for GET and DELETE', async () => {
    const headers = { 'idempotency-key': 'k' }
    const { data } = await post('k', { conditions: [], name: 'rule' })
    const address = `${rules}/${data.id}`
    const ask = (method: string) => scene.world.call(method, address, { token, headers })
    expect((await ask('GET')).data.name).toBe('rule')
    await scene.world.call('PUT', address, { token, body: { name: 'renamed' } })
    expect((await ask('GET')).data.name).toBe('renamed')
    expect((await ask('DELETE')).status).toBe(200)
    expect((await ask('DELETE')).status).toBe(404)
    expect(await remembered()).toHaveLength(1)
  })

  it('A repeated PUT with an Idempotency-Key is applied once, even if its ETag is stale', async () => {
    const { data } = await post('k', { conditions: [], name: 'rule' })
    const address = `${rules}/${data.id}`
    const put = (key: string, name: string) => {
      const headers = { 'idempotency-key': key, 'if-match': '"1"' }
      return scene.world.call('PUT', address, { token, headers, body: { name } })
    }
    const first = await put('p', 'one')
    expect([first.status, first.data.rule.name]).toEqual([200, 'one'])
    expect((await put('p', 'one')).text).toBe(first.text)
    expect((await put('p', 'two')).data).toBe(null)
    expect((await put('q', 'two')).status).toBe(409)
    expect((await scene.world.call('GET', address, { token })).data).toMatchObject({
      name: 'one',
      revision: 2,
    })
  })
})

function addressOfRules({ params }: Scene): string {
  const { projectId, envId, flagId } = params
  return `/projects/${projectId}/envs/${envId}/flags/${flagId}/targeting-rules`
}
