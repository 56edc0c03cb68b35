import fc from 'fast-check'
import { isJsonObject } from '../src/model/json.ts'

/** Values that are not JSON, or are too large or too deep for simple code. */
const ODD_VALUES: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  'not a number': () => Number.NaN,
  infinity: () => Number.POSITIVE_INFINITY,
  'a large integer': () => 10n ** 100n,
  'a symbol': () => Symbol('odd'),
  'a function': () => () => 'odd',
  'a date': () => new Date(0),
  'an invalid date': () => new Date(Number.NaN),
  'a map': () => new Map([['key', 'user-1']]),
  'a set': () => new Set(['user-1']),
  'a pattern': () => /odd/,
  bytes: () => new Uint8Array(3),
  'an instance': () => new Odd(),
  'no primitive': () => ({ toString: 1, valueOf: 1 }),
  'no primitive by symbol': () => ({ [Symbol.toPrimitive]: 1 }),
  'no JSON': () => ({ toJSON: 1 }),
  'throwing JSON': () => ({ toJSON: fail, toString: fail, valueOf: fail }),
  'no prototype': () => Object.create(null),
  'a context without prototype': () => {
    return Object.assign(Object.create(null), { kind: 'multi', user: { key: 'user-1' } })
  },
  'own __proto__': () => JSON.parse('{"__proto__": {"kind": "user"}}'),
  'an empty list': () => [],
  'a list of nothing': () => [undefined, null],
  'a sparse list': () => Object.assign([null, 'pro'], { 5: 'user-1' }),
  'a list of holes': () => new Array(2_000),
  'a list of odd values': () => [Symbol('odd'), 10n, fail, new Date(0)],
  'empty text': () => '',
  'half a character': () => '\ud800',
  'long text': () => 'x'.repeat(100_000),
  true: () => true,
  zero: () => 0,
  'a cyclic object': () => {
    const cycle: Record<string, unknown> = { kind: 'user', key: 'user-1' }
    cycle['user'] = cycle
    cycle['plan'] = [cycle]
    return cycle
  },
  'a cyclic multi context': () => {
    const cycle: Record<string, unknown> = { kind: 'multi' }
    cycle['user'] = cycle
    return cycle
  },
  'a cyclic list': () => {
    const cycle: unknown[] = ['pro']
    cycle.push(cycle)
    return cycle
  },
  'deep lists': () => deep((inner) => [inner]),
  'deep objects': () => deep((inner) => ({ plan: inner })),
}

class Odd {
  readonly kind = 'user'
  readonly key = 'user-1'
}

function fail(): never {
  throw new Error('must not be called')
}

function deep(around: (inner: unknown) => unknown): unknown {
  let value: unknown = 'pro'
  for (let level = 0; level < 20_000; level += 1) value = around(value)
  return value
}

/** The names of the odd values. Test reports cannot print the values themselves. */
export const ODD_NAMES = Object.keys(ODD_VALUES)

/** Names of odd values. */
export const anyOddName: fc.Arbitrary<string> = fc.constantFrom(...ODD_NAMES)

/** Returns a new odd value with a name. */
export function oddValue(name: string): unknown {
  return ODD_VALUES[name]?.()
}

/**
 * A change of a value: the member to select at each level, the odd value, and the kind of change.
 */
interface Plant {
  readonly path: readonly number[]
  readonly name: string
  readonly how: 'replace' | 'insert' | 'remove'
}

/** Changes to be applied by `planted`. */
export const anyPlants: fc.Arbitrary<readonly Plant[]> = fc.array(
  fc.record({
    path: fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
    name: anyOddName,
    how: fc.constantFrom('replace', 'replace', 'insert', 'remove'),
  }),
  { minLength: 1, maxLength: 4 },
)

/** Returns a copy of a JSON value in which odd values replace members or are inserted. */
export function planted<Value extends object>(value: Value, plants: readonly Plant[]): Value {
  const copy = structuredClone(value)
  for (const plant of plants) plantIn(copy as Record<string, unknown>, plant)
  return copy
}

function plantIn(root: Record<string, unknown>, { path, name, how }: Plant): void {
  let parent = root
  for (const [depth, choice] of path.entries()) {
    const members = Object.keys(parent)
    const member = members[choice % members.length]
    if (member === undefined) return
    const child = parent[member]
    if (depth < path.length - 1 && (isJsonObject(child) || Array.isArray(child))) {
      parent = child as unknown as Record<string, unknown>
      continue
    }
    if (how === 'remove') delete parent[member]
    else if (how === 'insert' && Array.isArray(parent)) parent.unshift(oddValue(name))
    else parent[member] = oddValue(name)
    return
  }
}
