import type { EvaluationContext } from '@ff/core'
import { bool, defineFlags, json, number, oneOf } from '@ff/core/flag-types'
import { defineFlags as defineEvaluatedFlags } from '@ff/core/typed-flags'
import { expectTypeOf } from 'vitest'
import type { FlagClient, FlagDetail } from '../../src/index.ts'
import { createLocalClient, type LocalClient, type LocalDetail } from '../../src/local.ts'
import { createLocalClient as createInNode } from '../../src/node.ts'

// Checked only by the compiler (`check:types`): code that must compile, and code that must not.

interface Limits {
  readonly max: number
}

declare const context: EvaluationContext

const flags = defineFlags({
  'new-checkout': bool(false),
  retries: number(3),
  theme: oneOf('light', 'dark'),
  limits: json<Limits>({ max: 1 }),
})
const local = createLocalClient({ url: 'https://flags.test', sdkKey: 'ff_1', flags })
const view = local.for(context)

expectTypeOf(local.value('new-checkout', context)).toEqualTypeOf<boolean>()
expectTypeOf(local.value('theme', context, 'dark')).toEqualTypeOf<'light' | 'dark'>()
expectTypeOf(local.detail('limits', context)).toEqualTypeOf<LocalDetail<Limits>>()
expectTypeOf(local.all(context).retries).toEqualTypeOf<number>()
expectTypeOf(local.close()).toEqualTypeOf<Promise<void>>()
expectTypeOf(view.value('theme')).toEqualTypeOf<'light' | 'dark'>()
expectTypeOf(local.for(() => ({ kind: 'user', key: 'user-1' }))).toEqualTypeOf<typeof view>()
expectTypeOf(view.detail('theme')).toEqualTypeOf<FlagDetail<'light' | 'dark'>>()
expectTypeOf(view).toExtend<FlagClient<{ readonly theme: 'light' | 'dark' }>>

const options = { url: 'https://flags.test', sdkKey: 'ff_1' }
const evaluated = defineEvaluatedFlags({ theme: oneOf('light', 'dark') })
expectTypeOf(createInNode({ ...options, flags: evaluated, cache: '/var/cache' })).toEqualTypeOf<
  LocalClient<{ theme: 'light' | 'dark' }>
>()

local.subscribe('theme', (keys) => expectTypeOf(keys).toEqualTypeOf<readonly string[]>())
local.subscribe((keys) => expectTypeOf(keys).toEqualTypeOf<readonly string[]>())
view.subscribe('retries', (value) => expectTypeOf(value).toEqualTypeOf<number>())

// @ts-expect-error: the flag is not defined.
local.value('new-chekout', context)
// @ts-expect-error: the flag is not defined.
view.value('new-chekout')
// @ts-expect-error: the flag is not defined.
local.subscribe('new-chekout', () => {})
// @ts-expect-error: the flag never has this value.
if (local.value('theme', context) === 'red') throw new Error()
// @ts-expect-error: the fallback has another type.
local.value('retries', context, '3')
// @ts-expect-error: the context is missing.
local.value('theme')
// @ts-expect-error: the context has no kind.
local.value('theme', { key: 7, plan: 'pro' })
// @ts-expect-error: the context is needed when a value is read, which is synchronous.
local.for(async () => context)
// @ts-expect-error: `sdkKey` is missing.
createLocalClient({ url: 'https://flags.test', flags })
// @ts-expect-error: only `server` and functions are sources.
createLocalClient({ ...options, flags, sources: ['file'] })
