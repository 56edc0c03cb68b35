import { compileFlagSet } from '@ff/core'
import { bool, defineFlags, oneOf, text } from '@ff/core/flag-types'
import { evaluate, flag } from 'flags/next'
import { expect, expectTypeOf, it } from 'vitest'
import { textFlag } from '../../server/test/seed.ts'
import { createLocalClient } from '../src/local.ts'
import { ff, getProviderData } from '../src/vercel.ts'

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

/** Creates a local client of a flag set that a test can change. */
async function createScene() {
  const scene = { banner: 'hello', version: 1 }
  const local = createLocalClient({
    ...{ url: 'http://flags.test', sdkKey: 'ff_1', flags: shopFlags },
    sources: [
      async () => ({
        version: scene.version,
        flags: [textFlag('banner', scene.banner, [proRule])],
        segments: [],
      }),
    ],
  })
  await local.ready()
  return { scene, local }
}

it('The SDK decides a flag for the context of the request, alone and together with others.', async () => {
  const { local } = await createScene()
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
  const [{ local }, { local: other }] = [await createScene(), await createScene()]
  const { adapterId } = ff(local)
  expect(ff(local, { dashboard: 'http://flags.test' }).adapterId).toBe(adapterId)
  expect(ff(local).declare('theme').adapter.adapterId).toBe(adapterId)
  expect(ff(other).adapterId).not.toBe(adapterId)
  await Promise.all([local.close(), other.close()])
})

it('A flag that cannot be evaluated has its default value, else the fallback of its type.', async () => {
  const { local } = await createScene()
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

it('The adapter waits for the first values, and follows changes.', async () => {
  const answers: ((definition: object) => void)[] = []
  const definition = { version: 1, flags: [textFlag('banner', 'first')], segments: [] }
  expect(compileFlagSet(definition).version).toBe(1)
  const local = createLocalClient({
    ...{ url: 'http://flags.test', sdkKey: 'ff_1', flags: shopFlags },
    sources: [() => new Promise<never>((resolve) => answers.push(resolve as never))],
  })
  const value = flag(ff(local).declare('banner'))(request)
  for (const answer of answers) answer(definition)
  expect(await value).toBe('first')
  await local.close()
})

it('The data of the provider has the values of each flag and the address of its page.', async () => {
  const { local } = await createScene()
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

/** Checked by the compiler only. */
export async function wrongUses(): Promise<unknown> {
  const { local } = await createScene()
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
