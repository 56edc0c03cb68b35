import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { FlagSetDefinition } from './model/definition.ts'
import { contextSchema, flagSetDefinitionSchema } from './schema.ts'

const flagSet: FlagSetDefinition = {
  version: 7,
  flags: [
    {
      id: 'f1',
      key: 'checkout',
      type: 'boolean',
      isActive: true,
      variations: [{ id: 'v1', key: 'on', value: 'true' }],
      defaultVariationId: 'v1',
      offVariationId: null,
      targets: [{ variationId: 'v1', kind: 'user', keys: ['ada'] }],
      prerequisites: [{ flagId: 'f2', variationIds: ['v9'] }],
      rules: [
        {
          id: 'r1',
          orderIndex: 0,
          createdAt: '2024-01-01T00:00:00.000Z',
          conditions: [{ attribute: 'plan', operator: 'made_up', value: 'pro', negate: true }],
          segmentId: 's1',
          variationId: null,
          rolloutId: 'o1',
        },
      ],
      rollouts: [
        {
          id: 'o1',
          strategy: 'variant',
          bucketBy: 'user.key',
          salt: 'x',
          scheme: 'ff',
          ranges: [{ variationId: 'v1', from: 0, to: 100_000 }],
        },
        {
          id: 'o2',
          strategy: 'gradual',
          bucketBy: 'user.key',
          salt: 'x',
          scheme: 'ff',
          variationId: 'v1',
          targetPercentage: 100,
          increment: 10,
          intervalHours: 0.5,
          startAt: '2024-01-01T00:00:00.000Z',
        },
      ],
    },
  ],
  segments: [
    {
      id: 's1',
      key: 'beta',
      rules: [{ attribute: 'plan', operator: 'eq', value: 'pro' }],
      logicalOp: 'NOT',
      force: false,
      keyAttribute: 'user.key',
      included: ['ada'],
      excluded: [],
    },
  ],
}

/**
 * Returns a copy of the flag set with another value at a path. `undefined` removes the property.
 */
function changed(path: string, value: unknown): unknown {
  const copy: unknown = structuredClone(flagSet)
  const names = path.split('.')
  const last = names.pop() ?? ''
  let at = copy as Record<string, unknown>
  for (const name of names) at = at[name] as Record<string, unknown>
  if (value === undefined) delete at[last]
  else at[last] = value
  return copy
}

describe('flagSetDefinitionSchema', () => {
  it('flagSetDefinitionSchema returns every field of a definition', () => {
    expect(flagSetDefinitionSchema.parse(flagSet)).toEqual(flagSet)
    expect(flagSetDefinitionSchema.parse({ version: 0, flags: [], segments: [] })).toEqual({
      version: 0,
      flags: [],
      segments: [],
    })
  })

  it('flagSetDefinitionSchema removes unknown fields', () => {
    expect(flagSetDefinitionSchema.parse({ ...flagSet, later: 1 })).toEqual(flagSet)
    const hostile = JSON.parse('{"version": 0, "flags": [], "segments": [], "__proto__": {"a": 1}}')
    expect(flagSetDefinitionSchema.parse(hostile)).not.toHaveProperty('a')
  })

  it('flagSetDefinitionSchema accepts the total weight of a rollout from another system', () => {
    const definition = changed('flags.0.rollouts.0.totalWeight', 99)
    expect(flagSetDefinitionSchema.parse(definition)).toEqual(definition)
  })

  it.each<[string, unknown]>([
    ['version', -1],
    ['version', 1.5],
    ['version', '7'],
    ['flags', {}],
    ['segments', null],
    ['flags.0.type', 'text'],
    ['flags.0.isActive', 1],
    ['flags.0.offVariationId', undefined],
    ['flags.0.rules.0.orderIndex', '0'],
    ['flags.0.rules.0.conditions.0.value', 5],
    ['flags.0.rules.0.conditions.0.negate', null],
    ['flags.0.rules.0.rolloutId', undefined],
    ['flags.0.rollouts.0.strategy', 'other'],
    ['flags.0.rollouts.0.ranges.0.from', -1],
    ['flags.0.rollouts.0.ranges.0.to', 100_001],
    ['flags.0.rollouts.0.ranges.0.to', 0.5],
    ['flags.0.rollouts.0.totalWeight', 0],
    ['flags.0.rollouts.0.totalWeight', 100_001],
    ['flags.0.rollouts.1.targetPercentage', 101],
    ['flags.0.rollouts.1.intervalHours', 0],
    ['flags.0.rollouts.1.startAt', '2024-01-01'],
    ['segments.0.logicalOp', 'and'],
    ['segments.0.included', 'ada'],
  ])('flagSetDefinitionSchema refuses %s with the value %j and names the path', (path, value) => {
    const result = flagSetDefinitionSchema.safeParse(changed(path, value))
    expect(result.error?.issues.map((issue) => issue.path.join('.'))).toEqual([path])
  })

  it('flagSetDefinitionSchema accepts an empty range, and refuses a range that ends before it starts', () => {
    const empty = { variationId: 'v1', from: 4, to: 4 }
    const accepted = changed('flags.0.rollouts.0.ranges.0', empty)
    expect(flagSetDefinitionSchema.parse(accepted)).toEqual(accepted)
    const range = { variationId: 'v1', from: 5, to: 4 }
    const result = flagSetDefinitionSchema.safeParse(changed('flags.0.rollouts.0.ranges.0', range))
    expect(result.error?.issues[0]?.message).toBe('`from` must not be greater than `to`')
  })
})

describe('contextSchema', () => {
  const request = z.object({ context: contextSchema })

  it('contextSchema returns the same object', () => {
    const context = JSON.parse('{"kind": "user", "__proto__": {"plan": "pro"}}')
    expect(contextSchema.parse(context)).toBe(context)
  })

  it('contextSchema names the path of a fault, also inside another schema', () => {
    const result = request.safeParse({ context: { kind: 'multi', user: { key: true } } })
    expect(result.error?.issues).toEqual([
      {
        code: 'custom',
        message: 'must be a string or an integer of at most 2^53 - 1, such as "user-1"',
        path: ['context', 'user.key'],
      },
    ])
  })

  it('contextSchema refuses a missing context', () => {
    const result = request.safeParse({})
    expect(result.error?.issues).toEqual([
      { code: 'custom', message: 'must be an object', path: ['context'] },
    ])
  })
})
