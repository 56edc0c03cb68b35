import { createTestClient } from '@ff/client/testing'
import { OpenFeature } from '@openfeature/web-sdk'
import { expect, expectTypeOf, it } from 'vitest'
import { createFlagProvider } from '../../src/web.ts'
import { shopFlags } from './shop-flags.ts'

it('The methods of the web SDK have the types of the registered flags.', async () => {
  const provider = createFlagProvider(createTestClient(shopFlags, { theme: 'dark' }))
  await OpenFeature.setProviderAndWait(provider)
  const client = OpenFeature.getClient()
  const theme = client.getStringValue('theme', 'light')
  expect(theme).toBe('dark')
  expectTypeOf(theme).toEqualTypeOf<'light' | 'dark'>()
  expectTypeOf(client.getStringDetails('theme', 'light').value).toEqualTypeOf<'light' | 'dark'>()
  expectTypeOf(client.getStringValue('banner', 'any')).toEqualTypeOf<string>()
  expectTypeOf(client.getBooleanValue('new-checkout', true)).toEqualTypeOf<boolean>()
  expectTypeOf(client.getNumberValue('limit', 5)).toEqualTypeOf<number>()
  const layout = client.getObjectValue('layout', { columns: 2 })
  expectTypeOf(layout).toEqualTypeOf<{ readonly columns: number }>()
  // @ts-expect-error The flag is not defined.
  client.getBooleanValue('missing', false)
  // @ts-expect-error The flag is not defined.
  client.getStringDetails('missing', 'light')
  // @ts-expect-error The flag has another type.
  client.getBooleanValue('theme', false)
  // @ts-expect-error The flag never has this value.
  client.getStringValue('theme', 'light') === 'blue'
  // @ts-expect-error The flag never has this value.
  client.getStringDetails('theme', 'light').value === 'blue'
  // @ts-expect-error The fallback is not a value of the flag.
  client.getStringValue('theme', 'blue')
  // @ts-expect-error The fallback has another type.
  client.getNumberValue('limit', 'five')
  // @ts-expect-error The fallback has another type.
  client.getObjectDetails('layout', { rows: 2 })
  await OpenFeature.clearProviders()
})
