import { describe, expect, it } from 'vitest'
import { flagDefinition, flagSetDefinition } from '../../test/definitions.ts'
import { jsonOf } from '../all-flags.ts'
import { compileFlagSet, type FlagSet } from '../evaluation/flag-set.ts'
import { servedBy } from '../evaluation/outcome.ts'
import type { FlagDefinition } from '../model/definition.ts'

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
})
