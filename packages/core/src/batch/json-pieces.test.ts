import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition } from '../../test/definitions.ts'
import { jsonOf } from '../all-flags.ts'
import type { CompiledFlag } from '../evaluation/flag.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import { servedBy } from '../evaluation/outcome.ts'
import type { FlagDefinition } from '../model/definition.ts'
import { JsonPieces } from './json-pieces.ts'

/** Returns a flag with `count` variations. Each value ends with `tail`. */
function flagOf(key: string, count: number, tail = ''): FlagDefinition {
  const variations = Array.from({ length: count }, (_, at) => {
    return { id: `${at}`, key: `${at}`, value: `${at}${tail}` }
  })
  return flagDefinition(key, { type: 'string', variations })
}

function versionOf(flags: readonly FlagDefinition[], previous?: FlagSet): FlagSet {
  return compileFlagSet(flagSetDefinition(flags), { previous })
}

/** Checks the JSON text of many different combinations of values, with codes before `start`. */
function expectText(flagSet: FlagSet): void {
  const { ordered: flags } = flagSet
  for (let turn = 0; turn < 300; turn += 1) {
    const codes = flags.map(({ values }, at) => {
      const served = (Math.floor((turn % 200) / (1 + (at % 5))) + at) % values.length
      return (served << 3) | 1
    })
    const evaluation = { flagSet, flags, context: {}, now: 0, start: 2 }
    const members = flags.map(({ key, values }, at) => [key, values[servedBy(codes[at] ?? 0)]])
    const text = jsonOf({ ...evaluation, codes: Int32Array.from([9, 9, ...codes]) })
    expect(text).toBe(JSON.stringify(Object.fromEntries(members)))
  }
}

/** Flags with few and many values. Some values are too long to share a piece. */
const flags = Array.from({ length: 40 }, (_, at) => {
  return flagOf(
    `flag-${at + 10}`,
    [2, 2, 0, 3, 2, 40, 2][at % 7] ?? 0,
    'é"x'.repeat(at % 9 === 5 ? 7000 : 1),
  )
})

describe('JsonPieces', () => {
  it('The JSON pieces produce the same text as JSON.stringify, when they are created and when they are reused', () => {
    expectText(versionOf(flags))
    expectText(versionOf(flags.slice(0, 1)))
    expectText(versionOf([]))
  })

  it.each([0, 1, 4, 20, 38, 39])(
    'The JSON pieces of each version are independent after any change of flag %d',
    (at) => {
      const before = versionOf(flags)
      expectText(before)
      const name = `flag-${at + 10}`
      const versions = [
        flags.with(at, flagOf(name, 3, 'changed'.repeat(500))),
        flags.with(at, flagOf(name, 2, 'changed')),
        flags.toSpliced(at, 1),
        flags.toSpliced(at, 0, flagOf(`${name}-added`, 2)),
      ]
      for (const version of versions) expectText(versionOf(version, before))
      expectText(before)
    },
  )

  it('The JSON pieces are correct if the first flag changes from version to version', () => {
    const small = [flagOf('b', 2), flagOf('c', 2)]
    const large = flagOf('a', 2, 'x'.repeat(9000))
    const without = versionOf(small)
    expectText(without)
    const behind = versionOf([large, ...small], without)
    expectText(behind)
    expectText(versionOf(small, behind))
    const alone = versionOf([large])
    expectText(alone)
    expectText(versionOf([flagOf('_', 2, 'x'.repeat(9000)), large], alone))
  })

  const LIMIT = 16_384
  const longestOf = ({ members }: CompiledFlag) => Math.max(...members.map(({ length }) => length))

  /** Returns the number of combinations and the total length of their longest texts. */
  const sizeOf = (piece: readonly CompiledFlag[]) => {
    const count = piece.reduce((product, { members }) => product * members.length, 1)
    return { count, length: count * piece.reduce((sum, flag) => sum + longestOf(flag), 0) }
  }

  it('Each JSON piece has as many flags as the limit of its length permits, and at least one', () => {
    const { ordered } = versionOf(flags)
    const { pieces } = new JsonPieces(ordered)
    expect(pieces.flatMap((piece) => piece.flags)).toEqual(ordered)
    expect(pieces.some((piece) => piece.flags.length > 2)).toBe(true)
    let end = 0
    for (const piece of pieces) {
      end += piece.flags.length
      expect(piece.flags.length).toBeGreaterThan(0)
      expect(piece.texts).toHaveLength(sizeOf(piece.flags).count)
      if (piece.flags.length > 1) expect(sizeOf(piece.flags).length).toBeLessThanOrEqual(LIMIT)
      if (end === ordered.length) continue
      expect(sizeOf([...piece.flags, ...ordered.slice(end, end + 1)]).length).toBeGreaterThan(LIMIT)
    }
  })

  it('The texts of a JSON piece have at most 16,384 characters in total', () => {
    const lengthsFor = (tail: number) => {
      const { ordered } = versionOf([flagOf('a', 0), flagOf('b', 1, 'x'.repeat(tail))])
      const { pieces } = new JsonPieces(ordered)
      return { pieces: pieces.length, length: sizeOf(ordered).length }
    }
    expect(lengthsFor(8_175)).toEqual({ pieces: 1, length: LIMIT })
    expect(lengthsFor(8_176)).toEqual({ pieces: 2, length: LIMIT + 2 })
  })

  it('A version reuses the unchanged JSON pieces except the first', () => {
    const before = versionOf(flags)
    const { pieces } = new JsonPieces(before.ordered)
    const reusedAfter = (change: readonly FlagDefinition[]) => {
      const after = new JsonPieces(versionOf(change, before).ordered).pieces
      return pieces.map((piece, at) => after[at] === piece)
    }
    const [all, last] = [pieces.length, pieces.at(-1)?.flags.length ?? 0]
    expect(last).toBeGreaterThan(1)
    const isReused = (changed: number) => pieces.map((_, at) => at > 0 && at !== changed)
    expect(reusedAfter(flags)).toEqual(isReused(0))
    expect(reusedAfter(flags.with(0, flagOf('flag-10', 2, 'changed')))).toEqual(isReused(0))
    expect(reusedAfter(flags.with(39, flagOf('flag-49', 2, 'changed')))).toEqual(isReused(all - 1))
    expect(reusedAfter(flags.slice(0, 39))).toEqual(isReused(all - 1))
  })
})
