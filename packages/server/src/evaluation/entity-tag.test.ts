import { describe, expect, it } from 'vitest'
import { asEntityTag, contextHashOf, entityTagsIn, entityTagText } from './entity-tag.ts'

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

describe('the hash of a context', () => {
  const context = { kind: 'user', key: 'user-1', name: 'Zoë' }
  const bytesOf = (body: string) => new TextEncoder().encode(body)
  const compact = `{"context":${JSON.stringify(context)}}`

  it('is the same from a body without spaces and from the context alone', () => {
    expect(contextHashOf(context, bytesOf(compact))).toBe(contextHashOf(context))
    expect(contextHashOf({}, bytesOf('{"context":{}}'))).toBe(contextHashOf({}))
  })

  it('is that of the context alone from every body that is not just a context', () => {
    const bodies = [`${compact}\n`, ` ${compact}`, `{"since":"x",${compact.slice(1)}`, '{}', '']
    for (const body of bodies) {
      expect(contextHashOf(context, bytesOf(body))).toBe(contextHashOf(context))
    }
  })

  it('is never that of another context, whatever stands around it', () => {
    const user = '{"kind":"user"}'
    const bodies = [
      `{"context":${user}}`,
      `{"context":${user},"context":{"kind":"user","a":1}}`,
      `{"context":{"kind":"user","context":${user}}}`,
      `{"context":{"kind":"user","context":${user}},"context":{}}`,
    ]
    const hashes = bodies.map((body) => contextHashOf(JSON.parse(body).context, bytesOf(body)))
    const alone = ['user-1', 'user-2', 1].map((key) => contextHashOf({ kind: 'user', key }))
    expect(new Set([...hashes, ...alone]).size).toBe(bodies.length + alone.length)
  })
})
