import { compileFlagSet, type FlagSetDefinition } from '@ff/core'
import { evaluateAll, valuesOf } from '@ff/core/all-flags'
import { flagSetRoot } from '@ff/core/flag-set-root'
import type { WholeFlagSet } from '@ff/protocol/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { call, evaluate } from '../../../server/test/call.ts'
import { settle } from '../../../server/test/fake-clock.ts'
import { type MetricsShop, openMetricsShop } from '../world/metrics-shop.ts'
import { stores } from '../world/stores.ts'
import type { Json } from '../world/world.ts'

const CONTEXTS = [
  {},
  ...['user-1', 'user-2', 'user-3', 'partner'].flatMap((key) => [
    { kind: 'user', key },
    { kind: 'user', key, plan: 'pro' },
  ]),
]

describe.each(stores)('The definition of a version, in %s', (_name, open) => {
  let shop: MetricsShop

  beforeEach(async () => {
    const { storage, clean } = open()
    shop = await openMetricsShop({ storage })
    await configure()
    return async () => {
      await shop.flags.close()
      clean()
    }
  })

  async function send(method: string, path: string, body?: Json): Promise<Json> {
    const answer = await call(shop.flags, `/projects/${shop.mine.projectId}${path}`, {
      method,
      headers: { authorization: `Bearer ${shop.mine.tokens.admin}` },
      ...(body !== undefined && { body }),
    })
    expect(answer, JSON.stringify(answer.body)).toSatisfy(({ status }) => status < 300)
    return (answer.body as Json).data
  }

  /**
   * Publishes a definition with rules, rollouts of both kinds, targets, a segment and a hidden
   * flag.
   */
  async function configure(): Promise<void> {
    const { flag, live } = shop.mine
    const [dark, light] = flag.variations.map(({ id }) => id)
    const inLive = `/envs/${live}/flags/${flag.id}`
    const segment = await send('POST', '/segments', { key: 'partners' })
    await send('POST', `/segments/${segment.id}/keys`, { list: 'included', add: ['partner'] })
    const half = { name: 'Half', strategy: 'percentage', variation_id: light, percentage: 50 }
    const { id: rollout_id } = await send('POST', `${inLive}/rollouts`, half)
    await send('POST', `${inLive}/rollouts`, {
      name: 'Slowly',
      strategy: 'gradual',
      variation_id: light,
      target_percentage: 50,
      increment: 10,
      interval_hours: 1,
      start_at: '2030-01-01T00:00:00.000Z',
    })
    const rules = `${inLive}/targeting-rules`
    const conditions = [{ attribute: 'plan', operator: 'eq', value: 'pro', negate: true }]
    await send('POST', rules, { name: 'Split', conditions, rollout_id })
    const partners = { name: 'Partners', conditions: [], segment_id: segment.id }
    await send('POST', rules, { ...partners, variation_id: light })
    await send('PUT', inLive, { targets: [{ variation_id: dark, kind: 'user', keys: ['user-3'] }] })
    await send('POST', '/flags', { key: 'secret', type: 'boolean', client_visible: false })
  }

  const newest = async () => (await shop.storage.loadChanges(shop.mine.live, 0)).version

  const download = async (version: number) =>
    (await send('GET', `/envs/${shop.mine.live}/versions/${version}`)) as FlagSetDefinition

  /** Returns the results of the server for all contexts, when it serves the newest version. */
  async function served(): Promise<readonly unknown[]> {
    const version = String(await newest())
    const answers: unknown[] = []
    for (const context of CONTEXTS) {
      const { body, headers } = await evaluate(shop.flags, shop.mine.serverKey, context)
      if (headers.get('x-ff-version') !== version) {
        await settle()
        return served()
      }
      answers.push(body)
    }
    return answers
  }

  function evaluated(definition: FlagSetDefinition): readonly unknown[] {
    const flagSet = compileFlagSet(definition)
    const now = shop.clock.now()
    return CONTEXTS.map((context) => ({ ...valuesOf(evaluateAll(flagSet, context, now)) }))
  }

  it('The definition of a version has the same JSON text as the flag set that SDKs download.', async () => {
    await served()
    const answer = await call(shop.flags, '/evaluator/flag-set', {
      method: 'GET',
      key: shop.mine.serverKey,
    })
    const definition = await download(await newest())
    const { root, ...downloaded } = answer.body as WholeFlagSet
    expect(JSON.stringify(definition)).toBe(JSON.stringify(downloaded))
    expect(root).toBe(flagSetRoot(definition).root)
    expect(definition.clientVersion).toBeLessThan(definition.version)
    const theme = definition.flags.find(({ key }) => key === 'theme')
    expect([theme?.rules.length, theme?.rollouts.length]).toEqual([2, 2])
  })

  it('The definition of a version evaluates with compileFlagSet as on the server, then and later.', async () => {
    const [version, answers] = [await newest(), await served()]
    expect(evaluated(await download(version))).toEqual(answers)
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(2)
    await send('DELETE', `/flags/${shop.mine.flag.id}`)
    expect(await served()).not.toEqual(answers)
    expect(evaluated(await download(version))).toEqual(answers)
  })
})
