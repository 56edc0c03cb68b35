import type { EvaluationContext } from '@openfeature/core'
import { expect, it } from 'vitest'
import { toContext } from '../src/context.ts'

it('A context without a kind is a user, and a context with a kind is used as it is.', () => {
  const cases: readonly [EvaluationContext, unknown][] = [
    [{}, {}],
    [{ targetingKey: 'u1' }, { kind: 'user', key: 'u1' }],
    [{ email: 'a@b.test' }, { kind: 'user', email: 'a@b.test' }],
    [{ key: 'k1' }, { kind: 'user', key: 'k1' }],
    [
      { targetingKey: 'u1', key: 'k1', plan: 'pro' },
      { kind: 'user', key: 'u1', plan: 'pro' },
    ],
    [
      { kind: 'device', targetingKey: 'd1' },
      { kind: 'device', key: 'd1' },
    ],
    [
      { kind: 'device', key: 'd1', targetingKey: 'u1' },
      { kind: 'device', key: 'd1' },
    ],
    [
      { kind: 'multi', targetingKey: 'x', user: { targetingKey: 'u1' }, org: { key: 'o1' } },
      { kind: 'multi', user: { key: 'u1' }, org: { key: 'o1' } },
    ],
    [
      { kind: 'multi', user: 7 },
      { kind: 'multi', user: 7 },
    ],
  ]
  for (const [context, converted] of cases) expect(toContext(context)).toEqual(converted)
})

it('A context whose attributes cannot be read is not a context.', () => {
  const getter = Object.defineProperty({}, 'kind', {
    enumerable: true,
    get: () => {
      throw new Error('broken getter')
    },
  })
  expect(toContext(getter)).toBe(undefined)
  expect(toContext(null as never)).toBe(undefined)
})
