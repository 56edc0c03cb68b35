import { describe, expect, it } from 'vitest'
import { flagIdName, flagName, isHop, namesIn, segmentName, wordsFor } from './references.ts'

describe('wordsFor', () => {
  it('wordsFor describes a flag, a segment, the id of a flag and an extension', () => {
    expect(wordsFor(flagName('a:b'))).toBe('flag a:b')
    expect(wordsFor(segmentName('s'))).toBe('segment s')
    expect(wordsFor(flagIdName('7'))).toBe('flag with the id 7')
    expect(wordsFor('extension:regex engine')).toBe('regex engine')
  })

  it('wordsFor describes a reference that is not text', () => {
    expect(wordsFor(segmentName(7 as unknown as string))).toBe('segment that is not text')
    expect(wordsFor(flagIdName(null as unknown as string))).toBe('flag id that is not text')
  })
})

describe('isHop', () => {
  it('Every reference is a hop, except that of a flag to a segment', () => {
    expect(isHop(flagName('a'), segmentName('s'))).toBe(false)
    expect(isHop(flagName('a'), flagName('segment:'))).toBe(true)
    expect(isHop(segmentName('flag:'), segmentName('s'))).toBe(true)
    expect(isHop(segmentName('s'), flagName('a'))).toBe(true)
  })
})

describe('namesIn', () => {
  it('namesIn returns the names of prerequisites, segments and flags', () => {
    const node = { name: flagName('a'), dependsOn: [segmentName('s')] }
    expect(namesIn({ node, flagIds: ['1'], flagKeys: ['b'] })).toEqual([
      'flag id:1',
      'segment:s',
      'flag:b',
    ])
  })
})
