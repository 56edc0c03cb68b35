import { bool, defineFlags, oneOf, text } from '@ff/core/flag-types'
import { createAccessProof } from 'flags'
import { createFlagsDiscoveryEndpoint, evaluate, flag } from 'flags/next'
import { expect, expectTypeOf, it, vi } from 'vitest'
import { settle } from '../../server/test/fake-clock.ts'
import { flagChange, textFlag } from '../../server/test/seed.ts'
import { createLocalClient } from '../src/local.ts'
import { ff, getProviderData } from '../src/vercel.ts'
import { createLocalScene, untilCurrent } from './local/local-scene.ts'

const shopFlags = defineFlags({
  banner: text('none'),
  theme: oneOf('light', 'dark'),
  'new-checkout': bool(false),
})
const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }
const pro = { kind: 'user', key: 'user-1', plan: 'pro' }
const requestOf = (plan: string) =>
  new Request('http://shop.test/', { headers: { 'x-plan': plan } })
const request = requestOf('pro')

/** Creates a local client that has a flag set with the flag `banner` only. */
async function createReadyClient() {
  const definition = {
    ...{ version: 1, segments: [] },
    flags: [textFlag('banner', 'hello', [proRule])],
  }
  const local = createLocalClient({
    ...{ url: 'http://flags.test', sdkKey: 'ff_1', flags: shopFlags },
    sources: [async () => definition],
  })
  await local.ready()
  return local
}

it('The SDK decides a flag for the context of the request, alone and together with others.', async () => {
  const local = await createReadyClient()
  const shop = ff(local, {
    identify: ({ headers }) => ({ ...pro, plan: headers.get('x-plan') ?? 'free' }),
  })
  const banner = flag(shop.declare('banner'))
  const theme = flag(shop.declare('theme'))
  const untyped = flag({ key: 'banner', adapter: shop })
  expect(await banner(request)).toBe('other')
  expect(await banner(requestOf('free'))).toBe('hello')
  expect(await evaluate([banner, theme, untyped], request)).toEqual(['other', 'light', 'other'])
  expect(
    await banner.run({ identify: { kind: 'user', key: 'u2' }, request: requestOf('pro') }),
  ).toBe('hello')
  await local.close()
})

it('All adapters of a client have one id, and those of other clients have others.', async () => {
  const [local, other] = [await createReadyClient(), await createReadyClient()]
  const { adapterId } = ff(local)
  expect(ff(local, { dashboard: 'http://flags.test' }).adapterId).toBe(adapterId)
  expect(ff(local).declare('theme').adapter.adapterId).toBe(adapterId)
  expect(ff(other).adapterId).not.toBe(adapterId)
  await Promise.all([local.close(), other.close()])
})

it('A flag that cannot be evaluated has its default value, else the fallback of its type.', async () => {
  const local = await createReadyClient()
  const shop = ff(local)
  expect(await flag(shop.declare('theme'))(request)).toBe('light')
  // The SDK keeps the value of a flag for a request.
  const dark = flag(shop.declare('theme', { defaultValue: 'dark' }))
  expect(await dark(requestOf('free'))).toBe('dark')
  const unknown = flag({ key: 'unknown', adapter: shop, defaultValue: 'mine' as never })
  expect(await unknown(request)).toBe('mine')
  for (const wrong of [null, 7, { plan: 'no kind' }]) {
    const parts = { key: 'banner', headers: request.headers as never, cookies: {} as never }
    expect(await shop.decide({ ...parts, entities: wrong as never })).toBe('none')
    const bulk = { flags: [{ key: 'banner', defaultValue: 'mine' }], ...parts }
    expect(await shop.bulkDecide?.({ ...bulk, entities: wrong as never })).toEqual({
      banner: 'mine',
    })
  }
  await local.close()
})

it('The SDK decides the flags of several adapters of a client with one call.', async () => {
  const local = await createReadyClient()
  const identify = () => pro
  const [shop, other] = [ff(local, { identify }), ff(local, { identify })]
  const [decide, bulkDecide] = [vi.spyOn(shop, 'decide'), vi.spyOn(shop, 'bulkDecide')]
  const flags = [flag({ key: 'banner', adapter: shop }), flag(other.declare('theme'))]
  expect(await evaluate(flags, requestOf('pro'))).toEqual(['other', 'light'])
  expect(bulkDecide).toHaveBeenCalledTimes(1)
  expect(bulkDecide.mock.calls[0]?.[0]).toMatchObject({
    flags: [{ key: 'banner' }, { key: 'theme', defaultValue: 'light' }],
    entities: pro,
  })
  expect(decide).not.toHaveBeenCalled()
  await local.close()
})

it('The SDK rejects if a flag has no value and no default value, or if identify throws.', async () => {
  const local = await createReadyClient()
  const unknown = flag({ key: 'unknown', adapter: ff(local) })
  await expect(unknown(requestOf('free'))).rejects.toThrow('must have a defaultValue')
  const identify = () => {
    throw new Error('no session')
  }
  const banner = flag(ff(local, { identify }).declare('banner'))
  await expect(banner(requestOf('free'))).rejects.toThrow('no session')
  await local.close()
})

it('The first decision waits for the flag set, and the next one has its changes.', async () => {
  const scene = await createLocalScene()
  await scene.publish(flagChange(textFlag('banner', 'hello')))
  const local = scene.create()
  const banner = flag(ff(local).declare('banner'))
  const first = Promise.all([banner(requestOf('a')), evaluate([banner], requestOf('b'))])
  await settle()
  await untilCurrent(scene, local)
  expect(await first).toEqual(['hello', ['hello']])
  await scene.publish(flagChange(textFlag('banner', 'changed')))
  await scene.clock.advance(2000)
  expect(await banner(requestOf('a'))).toBe('changed')
  expect(await evaluate([banner], requestOf('b'))).toEqual(['changed'])
  await scene.close()
})

it('Without a server, only the first decision waits, for five seconds.', async () => {
  const scene = await createLocalScene()
  scene.network.isDown = true
  const local = scene.create()
  const values: string[] = []
  const decide = async () =>
    values.push(await flag(ff(local).declare('banner', { defaultValue: 'mine' }))(requestOf('a')))
  const first = decide()
  await settle()
  await scene.clock.advance(4999)
  expect(values).toEqual([])
  await scene.clock.advance(1)
  await first
  await decide()
  expect(values).toEqual(['mine', 'mine'])
  await scene.close()
})

it('The data of the provider has the values of each flag and the address of its page.', async () => {
  const local = await createReadyClient()
  const dashboard = 'https://flags.test/dashboard/p/shop/'
  expect(getProviderData(local, { dashboard })).toEqual({
    definitions: {
      banner: {
        ...{ defaultValue: 'none', declaredInCode: true },
        origin: 'https://flags.test/dashboard/p/shop/flags/banner',
      },
      theme: {
        ...{ defaultValue: 'light', declaredInCode: true },
        options: [{ value: 'light' }, { value: 'dark' }],
        origin: 'https://flags.test/dashboard/p/shop/flags/theme',
      },
      'new-checkout': {
        ...{ defaultValue: false, declaredInCode: true },
        options: [{ value: true }, { value: false }],
        origin: 'https://flags.test/dashboard/p/shop/flags/new-checkout',
      },
    },
    hints: [],
  })
  expect(getProviderData(local).definitions['theme']).not.toHaveProperty('origin')
  const declared = flag(ff(local, { dashboard }).declare('theme'))
  expect(declared.origin).toBe('https://flags.test/dashboard/p/shop/flags/theme')
  expect(flag(ff(local).declare('theme')).origin).toBe(undefined)
  await local.close()
})

it('The data of the provider has a flag with the key __proto__.', () => {
  const flags = defineFlags({ ['__proto__']: bool(true) })
  expect(Object.keys(getProviderData({ flags }).definitions)).toEqual(['__proto__'])
})

it('The discovery endpoint answers only requests with the secret of the SDK.', async () => {
  const secret = Buffer.alloc(32, 1).toString('base64url')
  const get = createFlagsDiscoveryEndpoint(() => getProviderData({ flags: shopFlags }), { secret })
  const answer = (headers: Record<string, string>) =>
    get(new Request('http://shop.test/.well-known/vercel/flags', { headers }) as never)
  expect((await answer({})).status).toBe(401)
  const response = await answer({ authorization: `Bearer ${await createAccessProof(secret)}` })
  expect(await response.json()).toEqual(getProviderData({ flags: shopFlags }))
})

/** Checked by the compiler only. */
export async function wrongUses(): Promise<unknown> {
  const local = await createReadyClient()
  const shop = ff(local)
  const theme = flag(shop.declare('theme'))
  expectTypeOf(await theme()).toEqualTypeOf<'light' | 'dark'>()
  expectTypeOf(await flag(shop.declare('new-checkout'))()).toEqualTypeOf<boolean>()
  // @ts-expect-error The flag is not defined.
  shop.declare('thme')
  // @ts-expect-error The default is not a value of the flag.
  shop.declare('theme', { defaultValue: 'blue' })
  // @ts-expect-error The flag never has this value.
  return (await theme()) === 'blue'
}
