import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { type Called, call, evaluate, poll } from '../../../server/test/call.ts'
import { sized } from '../../../server/test/drills/scale.ts'
import { settle, until } from '../../../server/test/fake-clock.ts'
import { TestSocket } from '../../../server/test/test-socket.ts'
import { type MetricsShop, openMetricsShop } from '../world/metrics-shop.ts'
import type { Json } from '../world/world.ts'

const FLAGS = ['f0', 'f1', 'f2', 'f3', 'f4'] as const
const SEGMENTS = ['s0', 's1'] as const
const CONTEXT = { kind: 'user', key: 'user-1', plan: 'pro' }

const flagIndex = fc.nat({ max: FLAGS.length - 1 })
const segmentIndex = fc.nat({ max: SEGMENTS.length - 1 })

/** Rules and prerequisites of a flag refer only to earlier flags, so that there is no cycle. */
const change = fc.oneof(
  fc.record({ type: fc.constant('visible' as const), flag: flagIndex, isOn: fc.boolean() }),
  fc.record({ type: fc.constant('active' as const), flag: flagIndex, isOn: fc.boolean() }),
  fc.record({ type: fc.constant('prerequisite' as const), flag: flagIndex, on: flagIndex }),
  fc.record({ type: fc.constant('flagRule' as const), flag: flagIndex, on: flagIndex }),
  fc.record({ type: fc.constant('segmentRule' as const), flag: flagIndex, on: segmentIndex }),
  fc.record({ type: fc.constant('plainRule' as const), flag: flagIndex, isOn: fc.boolean() }),
  fc.record({ type: fc.constant('segment' as const), on: segmentIndex, isOn: fc.boolean() }),
  fc.record({ type: fc.constant('segmentKeys' as const), on: segmentIndex, isOn: fc.boolean() }),
)
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

/** The expected state of the flags: their visibility and their references. */
class Model {
  readonly hidden = new Set<string>()
  readonly #references = new Map<string, Set<string>>(FLAGS.map((key) => [key, new Set()]))

  refer(flag: string, to: string): void {
    this.#references.get(flag)?.add(to)
  }

  /**
   * Returns the keys of visible flags and of all flags and segments that their values depend on.
   */
  get reachable(): ReadonlySet<string> {
    const found = new Set<string>(FLAGS.filter((key) => !this.hidden.has(key)))
    for (const name of found) for (const to of this.#references.get(name) ?? []) found.add(to)
    return found
  }
}

interface Scene {
  readonly shop: MetricsShop
  readonly model: Model
  /** Sends a management request. Throws if it is refused. */
  ask(method: string, path: string, body: Json): Promise<Json>
  readonly flagIds: ReadonlyMap<string, string>
  /** The ids of the variations `true`, by flag. */
  readonly variations: ReadonlyMap<string, string>
  readonly segmentIds: readonly string[]
}

async function openScene(): Promise<Scene> {
  const shop = await openMetricsShop()
  const { projectId, tokens } = shop.mine
  const headers = { authorization: `Bearer ${tokens.editor}` }
  const ask: Scene['ask'] = async (method, path, body) => {
    const answer = await call(shop.flags, `/projects/${projectId}${path}`, {
      method,
      headers,
      body,
    })
    if (answer.status >= 300) throw new Error(JSON.stringify(answer.body))
    return (answer.body as Json).data
  }
  await call(shop.flags, `/projects/${projectId}/flags/${shop.mine.flag.id}`, {
    method: 'DELETE',
    headers,
  })
  const flagIds = new Map<string, string>()
  const variations = new Map<string, string>()
  for (const key of FLAGS) {
    const flag = await ask('POST', '/flags', { key, type: 'boolean' })
    flagIds.set(key, flag.id)
    variations.set(key, flag.variations.find(({ value }: Json) => value === 'true').id)
  }
  const segmentIds: string[] = []
  for (const key of SEGMENTS) segmentIds.push((await ask('POST', '/segments', { key })).id)
  return { shop, model: new Model(), ask, flagIds, variations, segmentIds }
}

/**
 * Makes a change. Returns the key of the changed flag or segment; `undefined` if nothing was
 * changed.
 */
async function make(scene: Scene, one: Change): Promise<string | undefined> {
  const { ask, model, flagIds, variations, segmentIds, shop } = scene
  if (one.type === 'segment' || one.type === 'segmentKeys') {
    const path = `/segments/${segmentIds[one.on]}`
    if (one.type === 'segment') await ask('PUT', path, { force: one.isOn })
    else await ask('POST', `${path}/keys`, keysBody(one.isOn))
    return SEGMENTS[one.on]
  }
  const key = FLAGS[one.flag] ?? ''
  const path = `/flags/${flagIds.get(key)}`
  const inLive = `/envs/${shop.mine.live}${path}`
  if (one.type === 'visible') {
    await ask('PUT', path, { client_visible: one.isOn })
    if (one.isOn) model.hidden.delete(key)
    else model.hidden.add(key)
    return key
  }
  if (one.type === 'active') {
    await ask('PUT', inLive, { is_active: one.isOn })
    return key
  }
  const isOfFlag = one.type === 'prerequisite' || one.type === 'flagRule'
  if (isOfFlag && one.on >= one.flag) return undefined
  const to = FLAGS[one.type === 'plainRule' ? 0 : one.on] ?? ''
  if (one.type === 'prerequisite') {
    const prerequisites = [{ flag_id: flagIds.get(to), variation_ids: [variations.get(to)] }]
    await ask('PUT', inLive, { prerequisites })
    model.refer(key, to)
    return key
  }
  await ask('POST', `${inLive}/targeting-rules`, {
    name: 'a rule',
    kind: 'custom',
    conditions: [conditionOf(one, scene)],
    variation_id: variations.get(key),
    order_index: 0,
  })
  if (one.type === 'flagRule') model.refer(key, to)
  if (one.type === 'segmentRule') model.refer(key, SEGMENTS[one.on] ?? '')
  return key
}

function conditionOf(one: Change, { segmentIds }: Scene): Json {
  if (one.type === 'flagRule') {
    return { attribute: FLAGS[one.on], operator: 'flag_is', value: '["true"]' }
  }
  if (one.type === 'segmentRule') {
    return { attribute: '', operator: 'in_segment', value: `["${segmentIds[one.on]}"]` }
  }
  const value = one.type === 'plainRule' && one.isOn ? 'pro' : 'free'
  return { attribute: 'plan', operator: 'eq', value }
}

function keysBody(isOn: boolean): Json {
  return { list: 'included', ...(isOn ? { add: ['user-1'] } : { remove: ['user-1'] }) }
}

/** A live client on a socket, with the values that result from its messages. */
function openSocket({ shop }: Scene, sdkKey: string) {
  const socket = new TestSocket()
  const connection = shop.flags.acceptSocket(socket)
  connection.receive(JSON.stringify({ type: 'init', sdkKey, context: CONTEXT }))
  return {
    socket,
    values() {
      let values: Record<string, unknown> = {}
      for (const message of socket.messages) {
        if (message.type !== 'flags') continue
        values = message.full ? { ...message.flags } : { ...values, ...message.flags }
        for (const key of message.removed ?? []) delete values[key]
      }
      return values
    },
  }
}

/** A long poll that is repeated with the latest entity tag after each response. */
class Poller {
  answer: Called | undefined
  readonly #shop: MetricsShop
  readonly #controller = new AbortController()

  constructor(shop: MetricsShop) {
    this.#shop = shop
  }

  send(since: string): void {
    const body = { context: CONTEXT, since }
    this.answer = undefined
    void poll(this.#shop.flags, this.#shop.mine.clientKey, body, this.#controller.signal).then(
      (answer) => {
        this.answer = answer
      },
      () => undefined,
    )
  }

  stop(): void {
    this.#controller.abort()
  }
}

const tagOf = ({ headers }: Called) => headers.get('etag') ?? ''
const versionOf = ({ headers }: Called) => Number(headers.get('x-ff-version'))

async function check(changes: readonly Change[]): Promise<void> {
  const scene = await openScene()
  const { shop, model } = scene
  const { clientKey, serverKey } = shop.mine
  const ask = (key: string) => evaluate(shop.flags, key, CONTEXT)
  const [client, server] = [openSocket(scene, clientKey), openSocket(scene, serverKey)]
  await until(() => client.socket.messages.length > 0 && server.socket.messages.length > 0)
  let before = await ask(clientKey)
  const poller = new Poller(shop)
  poller.send(tagOf(before))
  try {
    for (const one of changes) {
      const known = model.reachable
      const messages = client.socket.messages.length
      const name = await make(scene, one)
      if (name === undefined) continue
      const { version } = await shop.storage.loadChanges(shop.mine.live, 0)
      while (versionOf(await ask(serverKey)) !== version) await settle()
      await settle()
      const [mine, theirs] = [await ask(clientKey), await ask(serverKey)]
      const visible = Object.entries(theirs.body as Json).filter(([key]) => !model.hidden.has(key))
      expect(mine.body).toEqual(Object.fromEntries(visible))
      expect(client.values()).toEqual(mine.body)
      expect(server.values()).toEqual(theirs.body)
      if (!known.has(name) && !model.reachable.has(name)) {
        expect([tagOf(mine), versionOf(mine)]).toEqual([tagOf(before), versionOf(before)])
        expect(client.socket.messages.length).toBe(messages)
      }
      const isSame = JSON.stringify(mine.body) === JSON.stringify(before.body)
      expect(poller.answer === undefined).toBe(isSame)
      if (poller.answer !== undefined) {
        expect(poller.answer.body).toEqual(mine.body)
        expect(tagOf(poller.answer)).toBe(tagOf(mine))
        poller.send(tagOf(mine))
        await settle()
      }
      before = mine
    }
  } finally {
    poller.stop()
    await shop.flags.close()
  }
}

describe('the values for a client key', { timeout: 600_000 }, () => {
  it('A client key receives the same values as a server key, without hidden flags, over every transport', async () => {
    const numRuns = runs(sized({ full: 300, small: 60 }))
    const property = fc.asyncProperty(fc.array(change, { minLength: 3, maxLength: 14 }), check)
    await fc.assert(property, { numRuns })
  })
})
