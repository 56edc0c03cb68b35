import { describe, expect, it } from 'vitest'
import { asEntityTag, entityTagsIn, entityTagText } from './entity-tag.ts'

const tag = { version: 12, step: 3, contextHash: 'a'.repeat(32), valuesHash: '0'.repeat(32) }
const text = `"12.3-${'a'.repeat(32)}-${'0'.repeat(32)}"`

describe('entity tags', () => {
  it('are written and read back, strong or weak, with blanks around', () => {
    expect(entityTagText(tag)).toBe(text)
    for (const written of [text, `W/${text}`, `  ${text} `])
      expect(asEntityTag(written)).toEqual(tag)
  })

  it.each(['', '*', '""', text.slice(1), text.toUpperCase(), `${text}${text}`, `w/${text}`])(
    'are not recognised in %j',
    (other) => {
      expect(asEntityTag(other)).toBeUndefined()
    },
  )

  it('are found among others in a list', () => {
    expect(entityTagsIn(`"x", W/${text} ,${text}, *`)).toEqual([tag, tag])
    expect(entityTagsIn('')).toEqual([])
  })
})
