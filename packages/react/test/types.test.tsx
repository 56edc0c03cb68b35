import type { FlagClient, FlagDetail } from '@ff/client'
import { createTestClient } from '@ff/client/testing'
import { expect, expectTypeOf, it } from 'vitest'
import { createFlagHooks } from '../src/index.ts'
import { render } from './render.tsx'
import { flags, type Values } from './scene.ts'

const { FlagsProvider, useFlag, useFlagDetail, useFlagClient } = createFlagHooks(flags)

it('The values of the hooks have the types of the flags.', async () => {
  const Shown = () => {
    const theme = useFlag('theme')
    expectTypeOf(theme).toEqualTypeOf<'fallback' | 'light' | 'dark' | 'red'>()
    expectTypeOf(useFlag('new-checkout')).toEqualTypeOf<boolean>()
    expectTypeOf(useFlag('limit', { fallback: 3, suspend: true })).toEqualTypeOf<number>()
    expectTypeOf(useFlag('layout').columns).toEqualTypeOf<number>()
    expectTypeOf(useFlagDetail('theme')).toEqualTypeOf<FlagDetail<typeof theme>>()
    expectTypeOf(useFlagClient()).toEqualTypeOf<FlagClient<Values>>()
    return <p>{theme}</p>
  }
  const tree = await render(
    <FlagsProvider client={createTestClient(flags, { theme: 'dark' })}>
      <Shown />
    </FlagsProvider>,
  )
  expect(tree.text).toBe('dark')
  await tree.unmount()
})

/** Checked by the compiler only. */
export function WrongUses() {
  // @ts-expect-error The flag is not defined.
  useFlag('thme')
  // @ts-expect-error The flag is not defined.
  useFlagDetail('thme')
  // @ts-expect-error The fallback is not a value of the flag.
  useFlag('theme', { fallback: 'blue' })
  // @ts-expect-error The fallback has another type.
  useFlag('limit', { fallback: 'three' })
  // @ts-expect-error The flag never has this value.
  const isBlue = useFlag('theme') === 'blue'
  // @ts-expect-error The flag never has this value.
  const isWhite = useFlagDetail('theme').value === 'white'
  const options = { url: 'http://flags.test', sdkKey: 'ff_1' }
  // @ts-expect-error A provider has a client or options.
  const both = <FlagsProvider client={createTestClient(flags)} options={options} />
  // @ts-expect-error The context is a property of the provider.
  const twice = <FlagsProvider options={{ ...options, context: {} }} />
  // @ts-expect-error A provider has a client or options.
  const none = <FlagsProvider />
  return [isBlue, isWhite, both, twice, none]
}
