import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  flagDefinition,
  flagSetDefinition,
  ruleDefinition,
  segmentDefinition,
} from '../../test/definitions.ts'
import { canonicalJson } from '../fingerprint.ts'
import { hash128 } from '../hashing/hash128.ts'
import type { FlagSetDefinition, SegmentDefinition } from '../model/definition.ts'
import type { JsonValue } from '../model/json.ts'
import { FlagSetRoot, flagSetRoot, flagSetRootIncrementally } from './flag-set-root.ts'

interface RootCase {
  readonly name: string
  readonly flagSet: FlagSetDefinition
  readonly root: string
}

const url = new URL('../../test/vectors/roots/roots.json', import.meta.url)
const vectors: readonly RootCase[] = JSON.parse(readFileSync(url, 'utf8')).cases

function rootOf(definition: FlagSetDefinition): string {
  return flagSetRoot(definition).root
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Returns the hash of lines by the specification, without the code under test. */
function referenceHash(lineByName: ReadonlyMap<string, string>): string {
  const names = [...lineByName.keys()].sort()
  const buckets = Array.from({ length: 256 }, (_, byte) => {
    const inBucket = names.filter((name) => Number.parseInt(hash128(name).slice(0, 2), 16) === byte)
    const lines = inBucket.map((name) => lineByName.get(name))
    return lines.length === 0 ? '' : sha256(JSON.stringify(lines))
  })
  return sha256(buckets.join(''))
}

/** Returns the root of a flag set by the specification, without the code under test. */
function referenceRoot({ flags, segments }: FlagSetDefinition): string {
  const textOf = (value: unknown) => sha256(canonicalJson(value as JsonValue))
  const keysOf = (keys: readonly string[]) => referenceHash(new Map(keys.map((key) => [key, key])))
  const lines = new Map<string, string>()
  for (const flag of flags) lines.set(`flag ${flag.id}`, `flag ${flag.id} ${textOf(flag)}`)
  for (const { included, excluded, ...properties } of segments) {
    const name = `segment ${properties.id}`
    lines.set(name, `${name} ${textOf(properties)} ${keysOf(included)} ${keysOf(excluded)}`)
  }
  return referenceHash(lines)
}

const flag = flagDefinition('theme', { rules: [ruleDefinition()] })
const segment = segmentDefinition('s-1', { included: ['a', 'b'], excluded: ['c'] })
const definition = flagSetDefinition([flag, flagDefinition('beta')], [segment])

function withSegment(changes: Partial<SegmentDefinition>): FlagSetDefinition {
  return { ...definition, segments: [{ ...segment, ...changes }] }
}

describe('The vector file of roots', () => {
  it.each(vectors.map((vector) => [vector.name, vector] as const))('%s', (_, vector) => {
    expect(rootOf(vector.flagSet)).toBe(vector.root)
    expect(referenceRoot(vector.flagSet)).toBe(vector.root)
  })
})

describe('flagSetRoot', () => {
  it('A root does not depend on the order of flags, segments, listed keys and properties', () => {
    const other = segmentDefinition('s-2', { included: ['d'] })
    const reversed = <Definition extends object>(value: Definition) =>
      Object.fromEntries(Object.entries(value).reverse()) as Definition
    const turned = {
      version: 1,
      flags: [flagDefinition('beta'), reversed(flag)],
      segments: [other, reversed({ ...segment, included: ['b', 'a'] })],
    }
    expect(rootOf(turned)).toBe(rootOf({ ...definition, segments: [segment, other] }))
  })

  it('A root does not depend on the version and the client version', () => {
    expect(rootOf({ ...definition, version: 9, clientVersion: 8 })).toBe(rootOf(definition))
  })

  it('A root does not depend on repeated keys, which do not change a segment', () => {
    expect(rootOf(withSegment({ included: ['a', 'b', 'a'] }))).toBe(rootOf(definition))
  })

  it.each<[string, FlagSetDefinition]>([
    ['a removed flag', { ...definition, flags: [flag] }],
    ['a removed segment', { ...definition, segments: [] }],
    [
      'another id of a flag',
      { ...definition, flags: [{ ...flag, id: 'x' }, flagDefinition('beta')] },
    ],
    ['another order of rules', withRules('2', '1')],
    ['an additional key', withSegment({ included: ['a', 'b', 'd'] })],
    ['a removed key', withSegment({ included: ['a'] })],
    ['another key', withSegment({ included: ['a', 'B'] })],
    ['joined keys', withSegment({ included: ['a,b'] })],
    [
      'a key that moves from included to excluded',
      withSegment({ included: ['a'], excluded: ['b', 'c'] }),
    ],
    ['exchanged lists', withSegment({ included: ['c'], excluded: ['a', 'b'] })],
    ['another property of a segment', withSegment({ force: true })],
    ['another id of a segment', withSegment({ id: 's-2' })],
  ])('A root changes with %s', (_, changed) => {
    expect(rootOf(changed)).not.toBe(rootOf(definition))
    expect(rootOf(changed)).toBe(referenceRoot(changed))
    expect(flagSetRoot(definition).after(changed).root).toBe(rootOf(changed))
  })

  it('A root distinguishes keys that are equal in UTF-8 because of lone surrogates', () => {
    const roots = ['\ud800', '\udfff', '\ufffd'].map((key) =>
      rootOf(withSegment({ included: [key] })),
    )
    expect(new Set(roots).size).toBe(3)
  })

  it('flagSetRoot throws a TypeError if two flags or two segments have the same id', () => {
    const message = 'Two flags or two segments have the same id'
    expect(() => flagSetRoot({ ...definition, flags: [flag, { ...flag }] })).toThrow(message)
    expect(() => flagSetRoot({ ...definition, segments: [segment, segment] })).toThrow(TypeError)
    expect(rootOf(flagSetDefinition([{ ...flag, id: 's-1' }], [segment]))).toHaveLength(64)
  })

  it('flagSetRoot throws a TypeError if a list is missing or is not an array', () => {
    for (const included of [undefined, 'ab', null] as unknown as readonly string[][]) {
      expect(() => flagSetRoot(withSegment({ included }))).toThrow(TypeError)
    }
    const { segments } = definition
    expect(() => flagSetRoot({ version: 1, segments } as FlagSetDefinition)).toThrow(TypeError)
  })

  function withRules(...ids: readonly string[]): FlagSetDefinition {
    const rules = ids.map((id) => ruleDefinition({ id }))
    return { ...definition, flags: [{ ...flag, rules }, flagDefinition('beta')] }
  }
})

describe('flagSetRootIncrementally', () => {
  it('flagSetRootIncrementally yields often while it hashes many keys', () => {
    const included = Array.from({ length: 20_000 }, (_, at) => `user-${at}`)
    const large = withSegment({ included })
    const work = flagSetRootIncrementally(large)
    let count = 0
    for (;;) {
      const { done, value } = work.next()
      if (done === true) {
        expect(value.root).toBe(rootOf(large))
        break
      }
      count += 1
    }
    expect(count).toBeGreaterThan(256)
  })
})

describe('FlagSetRoot', () => {
  it('FlagSetRoot.empty is the root of a flag set without flags and segments', () => {
    expect(FlagSetRoot.empty().root).toBe(rootOf(flagSetDefinition([])))
    expect(FlagSetRoot.empty().root).toBe(sha256(''))
  })

  it('after does not read flags, segments and lists again that are the same objects', () => {
    const reads: string[] = []
    const observed = <Value extends object>(value: Value): Value =>
      new Proxy(value, {
        ownKeys: (target) => {
          reads.push('object')
          return Reflect.ownKeys(target)
        },
      })
    const kept = observed(flag)
    const included = ['a', 'b']
    const before = flagSetRoot({ version: 1, flags: [kept], segments: [{ ...segment, included }] })
    reads.length = 0
    Object.defineProperty(included, 'entries', { value: () => expect.unreachable() })
    const after = before.after({
      version: 2,
      flags: [kept],
      segments: [{ ...segment, included, force: true }],
    })
    expect(reads).toEqual([])
    expect(after.root).toBe(
      rootOf({ version: 2, flags: [flag], segments: [{ ...segment, force: true }] }),
    )
  })

  it('afterChanges adds, changes and removes flags, segments and keys', () => {
    const { included, excluded, ...properties } = segment
    const none = { added: [], removed: [] }
    const after = flagSetRoot(definition).afterChanges({
      flags: [
        { id: flag.id, definition: { ...flag, isActive: false } },
        { id: 'id of beta', definition: null },
        { id: 'id of other', definition: flagDefinition('other') },
      ],
      segments: [
        {
          id: 's-1',
          definition: properties,
          included: { added: ['d'], removed: ['a'] },
          excluded: none,
        },
        {
          id: 's-2',
          definition: { ...properties, id: 's-2' },
          included: { added: ['e'], removed: [] },
          excluded: none,
        },
      ],
    })
    const expected = flagSetDefinition(
      [{ ...flag, isActive: false }, flagDefinition('other')],
      [
        { ...segment, included: ['b', 'd'], excluded },
        { ...segment, id: 's-2', included: ['e'], excluded: [] },
      ],
    )
    expect(included).toEqual(['a', 'b'])
    expect(after.root).toBe(rootOf(expected))
    expect(after.after(expected).root).toBe(after.root)
    const removal = { id: 's-1', definition: null, included: none, excluded: none }
    expect(after.afterChanges({ flags: [], segments: [removal] }).root).toBe(
      rootOf({ ...expected, segments: expected.segments.slice(1) }),
    )
  })

  it('afterChanges does not change the root from which it starts', () => {
    const before = flagSetRoot(definition)
    const { root } = before
    before.afterChanges({ flags: [{ id: flag.id, definition: null }], segments: [] })
    expect(before.root).toBe(root)
    expect(before.after(definition).root).toBe(root)
  })

  it('A root includes listed keys that the properties of a changed segment contain', () => {
    const none = { added: [], removed: [] }
    const changed = { id: 's-1', definition: segment, included: none, excluded: none }
    const after = flagSetRoot(definition).afterChanges({ flags: [], segments: [changed] })
    expect(after.root).not.toBe(rootOf(definition))
  })
})
