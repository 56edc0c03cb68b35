import { expectTypeOf } from 'vitest'
import type { EvaluationContext, FlagSet, FlagValues } from '../src/index.ts'
import {
  bool,
  defineFlags,
  json,
  number,
  oneOf,
  type TypedDetail,
  text,
} from '../src/typed-flags.ts'

// Checked only by the compiler (`check:types`): code that must compile, and code that must not.

interface Limits {
  readonly max: number
}

declare const flagSet: FlagSet
declare const context: EvaluationContext
declare const values: FlagValues
declare const now: number
declare function isLimits(value: unknown): value is Limits

const flags = defineFlags({
  'new-checkout': bool(false),
  title: text('Shop'),
  retries: number(3),
  theme: oneOf('light', 'dark'),
  limits: json<Limits>(),
  guarded: json({ max: 1 }, isLimits),
  perhaps: json<Limits | null>(null, isLimits),
})

interface Expected {
  readonly 'new-checkout': boolean
  readonly title: string
  readonly retries: number
  readonly theme: 'light' | 'dark'
  readonly limits: Limits | null
  readonly guarded: Limits
  readonly perhaps: Limits | null
}

expectTypeOf(flags.value(flagSet, 'new-checkout', context, now)).toEqualTypeOf<boolean>()
expectTypeOf(flags.value(flagSet, 'title', context, now)).toEqualTypeOf<string>()
expectTypeOf(flags.value(flagSet, 'retries', context, now)).toEqualTypeOf<number>()
expectTypeOf(flags.value(flagSet, 'theme', context, now)).toEqualTypeOf<'light' | 'dark'>()
expectTypeOf(flags.value(flagSet, 'limits', context, now)).toEqualTypeOf<Limits | null>()
expectTypeOf(flags.value(flagSet, 'guarded', context, now)).toEqualTypeOf<Limits>()
expectTypeOf(flags.detail(flagSet, 'theme', context, now)).toEqualTypeOf<
  TypedDetail<'light' | 'dark'>
>()
expectTypeOf(flags.all(flagSet, context, now)).toEqualTypeOf<Expected>()
expectTypeOf(flags.allFrom(values)).toEqualTypeOf<Expected>()

// @ts-expect-error an undefined key
flags.value(flagSet, 'old-checkout', context, now)
// @ts-expect-error an undefined key
flags.detail(flagSet, 'toString', context, now)
// @ts-expect-error a key that is only known at run time
flags.value(flagSet, String(now), context, now)
// @ts-expect-error an undefined theme
const theme: 'light' | 'blue' = flags.value(flagSet, 'theme', context, now)
// @ts-expect-error the value can be null
const limits: Limits = flags.value(flagSet, 'limits', context, now)
// @ts-expect-error an undefined flag
flags.all(flagSet, context, now).size
// @ts-expect-error the result is read-only
flags.all(flagSet, context, now).title = ''
// @ts-expect-error a fallback of another type
bool('false')
// @ts-expect-error no texts
oneOf()
// @ts-expect-error numbers instead of texts
oneOf(1, 2)
// @ts-expect-error a guard for another type
json<string>('', isLimits)
// @ts-expect-error a value instead of a type
defineFlags({ theme: 'light' })

void [theme, limits]
