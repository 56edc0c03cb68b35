import { describe, expect, it } from 'vitest'
import {
  asEntityTag,
  contextHashOf,
  contextTextIn,
  entityTagsIn,
  entityTagText,
} from './entity-tag.ts'

const tag = { version: 12, step: 3, contextHash: 'a'.repeat(32), valuesHash: '0'.repeat(32) }
const tagText = `"12.3-${'a'.repeat(32)}-${'0'.repeat(32)}"`

const LIVE = { environmentId: 'live', kind: 'server' } as const

describe('Entity tags', () => {
  it('An entity tag is parsed from its text, strong or weak, with surrounding spaces', () => {
    expect(entityTagText(tag)).toBe(tagText)
    for (const written of [tagText, `W/${tagText}`, `  ${tagText} `])
      expect(asEntityTag(written)).toEqual(tag)
  })

  it.each(['-gzip', ';br', '--gzip', ':dtagent10', '-zstd-gzip', `-${'x'.repeat(10_240)}`])(
    'An entity tag to which a proxy has appended %.12s is the same tag',
    (suffix) => {
      const changed = `${tagText.slice(0, -1)}${suffix}"`
      expect(asEntityTag(changed)).toEqual(tag)
      expect(entityTagsIn(`"x", W/${changed}`)).toEqual([tag])
    },
  )

  it('Garbage of ten kilobytes is not an entity tag', () => {
    for (const garbage of ['x', '"', '-', '0', `${tagText.slice(0, -1)}f`])
      expect(asEntityTag(`"${garbage.repeat(10_240 / garbage.length)}"`)).toBeUndefined()
  })

  it.each([
    '',
    '*',
    '""',
    tagText.slice(1),
    tagText.toUpperCase(),
    `${tagText}${tagText}`,
    `w/${tagText}`,
  ])('The text %j is not an entity tag', (other) => {
    expect(asEntityTag(other)).toBeUndefined()
  })

  it('Entity tags are found in a list with other tags', () => {
    expect(entityTagsIn(`"x", W/${tagText} ,${tagText}, *`)).toEqual([tag, tag])
    expect(entityTagsIn('')).toEqual([])
  })
})

describe('contextHashOf', () => {
  const context = { kind: 'user', key: 'user-1', name: 'Zoë' }
  const text = JSON.stringify(context)
  const compact = `{"context":${text}}`
  const bytesOf = (body: string) => new TextEncoder().encode(body)
  const hashIn = (body: string) => {
    const found = contextTextIn(bytesOf(body))
    return found && contextHashOf(LIVE, found)
  }

  it('The hash of a context is the same for a body without spaces and for the context alone', () => {
    expect(hashIn(compact)).toBe(contextHashOf(LIVE, text))
    expect(hashIn('{"context":{}}')).toBe(contextHashOf(LIVE, '{}'))
  })

  it('contextTextIn returns undefined unless a body contains only a context, without spaces around it', () => {
    const bodies = [`${compact}\n`, ` ${compact}`, `{"since":"x",${compact.slice(1)}`, '{}', '']
    for (const body of bodies) expect(contextTextIn(bytesOf(body))).toBeUndefined()
  })

  it('Different contexts and bodies have different hashes', () => {
    const user = '{"kind":"user"}'
    const bodies = [
      `{"context":${user}}`,
      `{"context":${user},"context":{"kind":"user","a":1}}`,
      `{"context":{"kind":"user","context":${user}}}`,
      `{"context":{"kind":"user","context":${user}},"context":{}}`,
    ]
    const alone = ['user-1', 'user-2', 1].map((key) => {
      return contextHashOf(LIVE, JSON.stringify({ kind: 'user', key }))
    })
    const hashes = new Set([...bodies.map(hashIn), ...alone])
    expect(hashes.size).toBe(bodies.length + alone.length)
  })

  it('A context has different hashes in different environments', () => {
    const environments = ['live', 'staging', 'evil', 'live ', '', ...Array.from('0123456789')]
    const hashes = new Set(
      environments.map((environment) =>
        contextHashOf({ environmentId: environment, kind: 'server' }, text),
      ),
    )
    expect(hashes.size).toBe(environments.length)
  })
})
