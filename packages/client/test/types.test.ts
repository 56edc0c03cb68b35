import { expectTypeOf, it } from 'vitest'
import type { FlagClient, FlagClientOf, FlagDetail } from '../src/index.ts'
import { createTestClient } from '../src/testing.ts'
import { flags, type Values } from './scene.ts'

it('The types of values follow from the definition of the flags.', () => {
  const client: FlagClient<Values> = createTestClient(flags)
  expectTypeOf<FlagClientOf<typeof flags>>().toEqualTypeOf<FlagClient<Values>>()
  expectTypeOf(client.value('theme')).toEqualTypeOf<'fallback' | 'light' | 'dark' | 'red'>()
  expectTypeOf(client.value('new-checkout')).toEqualTypeOf<boolean>()
  expectTypeOf(client.value('layout')).toEqualTypeOf<{ readonly columns: number }>()
  expectTypeOf(client.detail('limit')).toEqualTypeOf<FlagDetail<number>>()
  client.subscribe('whoami', (key) => expectTypeOf(key).toEqualTypeOf<string>())
  client.value('limit', 5)
  // @ts-expect-error The flag is not defined.
  client.value('missing')
  // @ts-expect-error The flag is not defined.
  client.subscribe('missing', () => {})
  // @ts-expect-error The flag never has this value.
  client.value('theme') === 'blue'
  // @ts-expect-error The fallback has another type.
  client.value('limit', 'five')
  // @ts-expect-error The fallback is not a value of the flag.
  client.detail('theme', 'blue')
  // @ts-expect-error A context is an object.
  void client.setContext('user')
  // @ts-expect-error The flag has another type.
  createTestClient(flags, { theme: 7 })
})
