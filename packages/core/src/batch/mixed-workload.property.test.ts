import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { contextAt, mixedFlags } from '../../bench/mixed.ts'
import { resultsAlone, resultsTogether } from '../../test/single-results.ts'
import { clientView } from '../evaluation/client-view.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import type { EvaluationContext } from '../model/context.ts'
import type { FlagDefinition, FlagSetDefinition } from '../model/definition.ts'
import { re2 } from '../regex.ts'
import { ruleMatrixOf } from './batch-cache.ts'

const extensions = { regex: re2 }
const HOUR_MS = 3_600_000
/** The start of the first gradual rollouts. Each has a step every 24 hours. */
const FIRST_STEP = Date.parse('2025-12-10T00:00:00Z')

/** Times around steps, in any order. */
const anyNow = fc
  .tuple(fc.integer({ min: -1, max: 41 }), fc.constantFrom(-1, 0, 1, 12 * HOUR_MS))
  .map(([day, offset]) => FIRST_STEP + 24 * HOUR_MS * day + offset)
const anyRequest = fc.record({ turn: fc.nat({ max: 999 }), now: anyNow })
const anyRequests = fc.array(anyRequest, { minLength: 6, maxLength: 6 })
const anySeed = fc.nat({ max: 1_000_000 })

function expectAsAlone(flagSet: FlagSet, requests: readonly { turn: number; now: number }[]): void {
  for (const { turn, now } of requests) {
    const context = contextAt(turn)
    expect([context, now, resultsTogether(flagSet, context, now)]).toEqual([
      ...[context, now, resultsAlone(flagSet, context, now)],
    ])
  }
}

/** Replaces the flags and segments with these indexes by those of another definition. */
function replaced(
  before: FlagSetDefinition,
  other: FlagSetDefinition,
  indexes: ReadonlySet<number>,
): FlagSetDefinition {
  const ids = new Map(other.flags.map(({ id }, index) => [id, before.flags[index]?.id ?? '']))
  const flags = other.flags.map((flag, index): FlagDefinition => {
    const own = before.flags[index]
    if (own !== undefined && !indexes.has(index)) return own
    const prerequisites = flag.prerequisites.map((each) => {
      return { ...each, flagId: ids.get(each.flagId) ?? '' }
    })
    return { ...flag, id: own?.id ?? '', prerequisites }
  })
  const segments = before.segments.map((segment, index) => {
    return indexes.has(10 * index + 3) ? (other.segments[index] ?? segment) : segment
  })
  return { version: before.version + 1, flags, segments }
}

/** Hides every third flag, beginning with the flag with the index `first`. */
function hidden(definition: FlagSetDefinition, first: number): FlagSetDefinition {
  const flags = definition.flags.map((flag, index) => {
    return index % 3 === first ? { ...flag, clientVisible: false } : flag
  })
  return { ...definition, flags }
}

/** Returns a context whose attributes call `onRead` whenever they are read. */
function watched<Attributes extends object>(
  attributes: Attributes,
  onRead: () => void,
): Attributes {
  const copy = {}
  for (const [name, value] of Object.entries(attributes)) {
    const own: unknown =
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? watched(value as object, onRead)
        : value
    Object.defineProperty(copy, name, {
      enumerable: true,
      get: () => {
        onRead()
        return own
      },
    })
  }
  return copy as Attributes
}

const SIZES: readonly (readonly [flags: number, allRuns: number])[] = [
  [1, 100],
  [10, 100],
  [60, 40],
  [300, 15],
]

describe.each(SIZES)('The mixed workload with %d flags', (count, allRuns) => {
  it('Flags of the mixed workload have the same results together as alone, for any times', () => {
    fc.assert(
      fc.property(anySeed, anyRequests, (seed, requests) => {
        const flagSet = compileFlagSet(mixedFlags(count, seed), { extensions })
        expectAsAlone(flagSet, [...requests, ...requests.toReversed()])
      }),
      { numRuns: runs(allRuns) },
    )
  })

  it('Versions of the mixed workload have the same results together as alone, as does a client view', () => {
    const anyIndexes = fc
      .array(fc.nat({ max: count - 1 }), { minLength: 1, maxLength: 1 + Math.floor(count / 12) })
      .map((list) => new Set(list))
    const anyChanges = fc.array(anyIndexes, { minLength: 3, maxLength: 5 })
    let mostShards = 0
    fc.assert(
      fc.property(anySeed, anyChanges, anyRequests, (seed, changes, requests) => {
        let definition = hidden(mixedFlags(count, seed), seed % 3)
        const other = hidden(mixedFlags(count, seed + 1), (seed + 1) % 3)
        let flagSet = compileFlagSet(definition, { extensions })
        let view = clientView(flagSet)
        for (const [turn, indexes] of changes.entries()) {
          expectAsAlone(flagSet, requests.slice(turn, turn + 2))
          expectAsAlone(view, requests.slice(turn))
          const before = flagSet
          definition = replaced(definition, other, indexes)
          flagSet = compileFlagSet(definition, { previous: flagSet, extensions })
          view = clientView(flagSet, view)
          expectAsAlone(flagSet, requests.slice(turn))
          expectAsAlone(before, requests.slice(0, 1))
          for (const each of [flagSet, view]) {
            mostShards = Math.max(mostShards, ruleMatrixOf(each).shards.length)
          }
        }
      }),
      { numRuns: runs(allRuns) },
    )
    expect(mostShards).toBeGreaterThan(count === 1 ? 0 : 1)
  })

  it('An attribute can be a getter that evaluates the same flags for another context at another time', () => {
    fc.assert(
      fc.property(anySeed, anyRequests, anyRequest, (seed, requests, nested) => {
        const flagSet = compileFlagSet(mixedFlags(count, seed), { extensions })
        const expected = resultsAlone(flagSet, contextAt(nested.turn), nested.now)
        for (const { turn, now } of requests) {
          let reads = 0
          const context = watched(contextAt(turn), () => {
            reads += 1
            // Single conditions can read an attribute hundreds of times.
            if (reads % 7 !== 1) return
            const given = resultsTogether(flagSet, contextAt(nested.turn), nested.now)
            if (given.join() !== expected.join()) throw new Error(`${given}`)
          })
          const given = resultsTogether(flagSet, context as EvaluationContext, now)
          expect(given).toEqual(resultsAlone(flagSet, contextAt(turn), now))
          expect(reads).toBeGreaterThan(0)
        }
        expectAsAlone(flagSet, requests)
      }),
      { numRuns: runs(allRuns) },
    )
  })
})
