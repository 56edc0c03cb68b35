import { createLocalClient } from '@ff/client/local'
import { type Client, OpenFeature } from '@openfeature/server-sdk'
import { expect, expectTypeOf, it } from 'vitest'
import { createFlagProvider } from '../../src/server.ts'
import { shopFlags } from './shop-flags.ts'

it('The methods of the server SDK have the types of the registered flags.', async () => {
  const local = createLocalClient({
    url: 'http://127.0.0.1:1',
    sdkKey: 'ff_1',
    flags: shopFlags,
    sources: [],
  })
  await OpenFeature.setProviderAndWait(createFlagProvider(local))
  const client = OpenFeature.getClient()
  const context = { targetingKey: 'user-1' }
  const theme = await client.getStringValue('theme', 'light', context)
  expect(theme).toBe('light')
  expectTypeOf(theme).toEqualTypeOf<'light' | 'dark'>()
  await OpenFeature.clearProviders()
})

/** Checked by the compiler only. */
export async function wrongUses(client: Client): Promise<void> {
  expectTypeOf(await client.getBooleanValue('new-checkout', true)).toEqualTypeOf<boolean>()
  expectTypeOf(await client.getNumberValue('limit', 5, {})).toEqualTypeOf<number>()
  const { value } = await client.getObjectDetails('layout', { columns: 2 })
  expectTypeOf(value).toEqualTypeOf<{ readonly columns: number }>()
  // @ts-expect-error The flag is not defined.
  void client.getBooleanValue('missing', false)
  // @ts-expect-error The flag has another type.
  void client.getBooleanValue('theme', false)
  // @ts-expect-error The flag never has this value.
  void ((await client.getStringValue('theme', 'light')) === 'blue')
  // @ts-expect-error The fallback is not a value of the flag.
  void client.getStringValue('theme', 'blue')
  // @ts-expect-error The fallback has another type.
  void client.getNumberDetails('limit', 'five')
}
