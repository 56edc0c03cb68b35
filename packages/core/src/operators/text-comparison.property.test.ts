import { describe, expect, it } from 'vitest'
import { inLowerCase } from './text-comparison.ts'

describe('inLowerCase', () => {
  it('inLowerCase converts each code point independently of the others', () => {
    const wrong: number[] = []
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code)
      const lower = character === 'İ' ? 'i' : character.toLowerCase()
      if (inLowerCase(`A${character}`) !== `a${lower}`) wrong.push(code)
      if (Array.from(lower).length !== 1) wrong.push(code)
    }
    expect(wrong).toEqual([])
  })
})
