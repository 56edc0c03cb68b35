import type { FlagSetDefinition } from '@ff/core'
import { describe, expect, it } from 'vitest'
import { textFlag } from '../../test/seed.ts'
import { assertValidDefinition } from './valid-definition.ts'

/** Checks to the end, and returns the number of interruptions. */
function interruptionsOf(definition: unknown, known?: FlagSetDefinition): number {
  return [...assertValidDefinition(definition as FlagSetDefinition, known)].length
}

const flags = Array.from({ length: 100 }, (_, index) => textFlag(`flag-${index}`, 'hello'))
const definition: FlagSetDefinition = { version: 1, flags, segments: [] }

describe('assertValidDefinition', () => {
  it('may be interrupted after each four flags', () => {
    expect(interruptionsOf(definition)).toBe(25)
  })

  it('skips the flags of the definition before', () => {
    const next = { ...definition, flags: [...flags, textFlag('new', 'hello')] }
    expect(interruptionsOf(next, definition)).toBe(1)
  })

  it.each<[string, unknown, string]>([
    [
      'the path and the key of a flag with a fault',
      { ...definition, flags: [...flags, { ...textFlag('new', 'hello'), isActive: 1 }] },
      'flags.100.isActive (key "new") must be a boolean',
    ],
    [
      'the path of a flag that is no object',
      { ...definition, flags: [null] },
      'flags.0 must be an object',
    ],
    [
      'the path of a list that is no array',
      { ...definition, segments: {} },
      'segments must be an array',
    ],
    [
      'a version that is out of range',
      { ...definition, version: -1 },
      'version must be an integer from 0 to 9007199254740991',
    ],
    [
      'the key that two flags have',
      { ...definition, flags: [...flags, textFlag('flag-7', 'hello')] },
      'two flags have the key "flag-7"',
    ],
  ])('names %s', (_, invalid, fault) => {
    expect(() => interruptionsOf(invalid)).toThrow(`The flag set is not valid: ${fault}.`)
  })
})
