import type { FlagSetDefinition } from '@ff/core'
import { describe, expect, it } from 'vitest'
import { textFlag } from '../../test/seed.ts'
import { assertValidDefinition } from './valid-definition.ts'

/** Runs the check to its end and returns the number of interruptions. */
function interruptionsOf(definition: unknown, known?: FlagSetDefinition): number {
  return [...assertValidDefinition(definition as FlagSetDefinition, known)].length
}

const flags = Array.from({ length: 100 }, (_, index) => textFlag(`flag-${index}`, 'hello'))
const definition: FlagSetDefinition = { version: 1, flags, segments: [] }

describe('assertValidDefinition', () => {
  it('The check of a definition can be interrupted after every four flags', () => {
    expect(interruptionsOf(definition)).toBe(25)
  })

  it('The check of a definition skips the flags that the previous definition contains', () => {
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
      'the path of a flag that is not an object',
      { ...definition, flags: [null] },
      'flags.0 must be an object',
    ],
    [
      'the path of a list that is not an array',
      { ...definition, segments: {} },
      'segments must be an array',
    ],
    [
      'a version that is out of range',
      { ...definition, version: -1 },
      'version must be an integer from 0 to 9007199254740991',
    ],
    [
      'the key of two flags with the same key',
      { ...definition, flags: [...flags, textFlag('flag-7', 'hello')] },
      'two flags have the key "flag-7"',
    ],
  ])('The error for an invalid definition names %s', (_, invalid, fault) => {
    expect(() => interruptionsOf(invalid)).toThrow(`The flag set is not valid: ${fault}.`)
  })
})
