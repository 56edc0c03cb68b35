// @vitest-environment happy-dom
import { createTestClient } from '@ff/client/testing'
import * as sdk from '@openfeature/react-sdk'
import { act, createElement } from 'react'
import { createRoot } from 'react-dom/client'
import { expect, expectTypeOf, it } from 'vitest'
import * as typed from '../../src/react.ts'
import { createFlagProvider } from '../../src/web.ts'
import { shopFlags } from './shop-flags.ts'

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })

const { OpenFeature, OpenFeatureProvider, FeatureFlag } = typed

it('The entry exports the functions of the SDK, and no others.', () => {
  expect({ ...typed }).toEqual({ ...sdk })
  expect(typed.useFlag).toBe(sdk.useFlag)
})

it('The hooks have the types of the registered flags, and follow the client.', async () => {
  const client = createTestClient(shopFlags, { theme: 'dark', layout: { columns: 3 } })
  await OpenFeature.setProviderAndWait(createFlagProvider(client))
  const Shown = () => {
    const theme = typed.useStringFlagValue('theme', 'light')
    expectTypeOf(theme).toEqualTypeOf<'light' | 'dark'>()
    const { value: isNew } = typed.useBooleanFlagDetails('new-checkout', false)
    expectTypeOf(isNew).toEqualTypeOf<boolean>()
    const limit = typed.useNumberFlagValue('limit', 5)
    expectTypeOf(limit).toEqualTypeOf<number>()
    const layout = typed.useObjectFlagValue('layout', { columns: 2 })
    expectTypeOf(layout).toEqualTypeOf<{ readonly columns: number }>()
    const { value: banner, reason } = typed.useFlag('banner', 'none')
    expectTypeOf(banner).toEqualTypeOf<string>()
    const { value: suspended } = typed.useSuspenseFlag('theme', 'light')
    expectTypeOf(suspended).toEqualTypeOf<'light' | 'dark'>()
    return [theme, isNew, limit, layout.columns, banner, reason, suspended].join(' ')
  }
  const tree = createElement(
    OpenFeatureProvider,
    null,
    createElement(Shown),
    createElement(FeatureFlag<'theme'>, {
      ...{ flagKey: 'theme', defaultValue: 'light', matchValue: 'dark' },
      children: ' at night',
    }),
  )
  const container = document.createElement('div')
  const root = createRoot(container)
  await act(async () => root.render(tree))
  expect(container.textContent).toBe('dark false 5 3 none ERROR dark at night')
  await act(async () => client.set({ theme: 'light', banner: 'hello' }))
  expect(container.textContent).toBe('light false 5 3 hello UNKNOWN light')
  await act(async () => root.unmount())
  await OpenFeature.clearProviders()
})

/** Checked by the compiler only. */
export function RightUses() {
  expectTypeOf(typed.useBooleanFlagValue('new-checkout', true)).toEqualTypeOf<boolean>()
  const { value: theme } = typed.useStringFlagDetails('theme', 'dark')
  expectTypeOf(theme).toEqualTypeOf<'light' | 'dark'>()
  const { value: limit } = typed.useNumberFlagDetails('limit', 5)
  expectTypeOf(limit).toEqualTypeOf<number>()
  const { value: layout } = typed.useObjectFlagDetails('layout', { columns: 2 })
  expectTypeOf(layout).toEqualTypeOf<{ readonly columns: number }>()
  const { details } = typed.useSuspenseFlag('limit', 5)
  expectTypeOf(details.value).toEqualTypeOf<number>()
  const isNew = { flagKey: 'new-checkout', defaultValue: false, children: 'new' } as const
  return createElement(FeatureFlag<'new-checkout'>, isNew)
}

/** Checked by the compiler only. */
export function WrongUses() {
  // @ts-expect-error The flag is not defined.
  typed.useStringFlagValue('thme', 'light')
  // @ts-expect-error The flag has another type.
  typed.useBooleanFlagValue('theme', false)
  // @ts-expect-error The default is not a value of the flag.
  typed.useStringFlagDetails('theme', 'blue')
  // @ts-expect-error The default has another type.
  typed.useFlag('limit', 'five')
  // @ts-expect-error The default has another type.
  typed.useObjectFlagDetails('layout', { rows: 2 })
  // @ts-expect-error The flag is not defined.
  typed.useSuspenseFlag('missing', false)
  // @ts-expect-error The flag never has this value.
  const isBlue = typed.useStringFlagValue('theme', 'light') === 'blue'
  // @ts-expect-error The flag never has this value.
  const isWhite = typed.useFlag('theme', 'light').value === 'white'
  // @ts-expect-error The flag never has this value.
  const props: typed.RegisteredFlagProps<'theme'>['matchValue'] = 'blue'
  // @ts-expect-error A flag with other values than booleans is shown for one of its values.
  const anyTheme: typed.RegisteredFlagProps<'theme'> = {
    flagKey: 'theme',
    defaultValue: 'light',
    children: 'night',
  }
  return [isBlue, isWhite, props, anyTheme]
}
