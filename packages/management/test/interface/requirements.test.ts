import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { citationsIn } from './citations.ts'
import { requirements } from './requirements.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const THIS_FOLDER_S_OWN = /requirements\.test\.ts$/

function testFiles(): readonly string[] {
  const files = ['packages', 'examples'].flatMap((folder) => {
    const parents = readdirSync(join(ROOT, folder))
    return parents.flatMap((parent) =>
      ['src', 'test'].flatMap((each) => filesBelow(join(ROOT, folder, parent, each))),
    )
  })
  return files.filter((file) => file.endsWith('.test.ts') && !THIS_FOLDER_S_OWN.test(file))
}

function filesBelow(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return names.map((name) => join(folder, name))
  } catch {
    return []
  }
}

const citations = testFiles().flatMap((file) =>
  citationsIn(readFileSync(file, 'utf8')).map((citation) => {
    return { ...citation, file: relative(ROOT, file) }
  }),
)

describe('the requirements of the interface', () => {
  it('Each requirement has a unique id', () => {
    const ids = requirements.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { id, says } of requirements) {
      expect(id).toMatch(/^[A-Z]+-\d+$/)
      expect(says.length).toBeGreaterThan(10)
    }
  })

  it('Each requirement is cited by a test that runs', () => {
    const cited = new Set(citations.filter(({ counts }) => counts).map(({ id }) => id))
    const open = requirements.filter(({ id }) => !cited.has(id))
    expect(open.map(({ id, says }) => `${id} ${says}`)).toEqual([])
  })

  it('Each cited requirement exists', () => {
    const known = new Set(requirements.map(({ id }) => id))
    expect(citations.filter(({ id }) => !known.has(id))).toEqual([])
  })

  it('Requirements are cited only in titles of tests that run', () => {
    expect(citations.filter(({ counts }) => !counts)).toEqual([])
  })
})

describe('citationsIn', () => {
  const ids = (text: string) => citationsIn(text).map(({ id, counts }) => `${id} ${counts}`)

  it('A citation counts in the title of a test', () => {
    const texts = [
      `it('is so [A-1]', () => {})`,
      `  test("is so [A-1]", async () => {})`,
      'it(\n  `is so [A-1]`,\n  () => {})',
      `it.each([[1, (2)], f()])('is %s [A-1]', () => {})`,
    ]
    for (const text of texts) expect(ids(text)).toEqual(['A-1 true'])
    expect(ids(`it('is so [A-1] [B-22]', () => {})`)).toEqual(['A-1 true', 'B-22 true'])
  })

  it('A citation does not count outside of a title or in a file with skipped tests', () => {
    const texts = [
      `// [A-1]`,
      `expect(x, '[A-1]').toBe(1)`,
      `describe('is so [A-1]', () => {})`,
      `submit('is so [A-1]', () => {})`,
      `it.skip('is so [A-1]', () => {})`,
      `it.todo('is so [A-1]')`,
      `describe.skip('x', () => { it('is so [A-1]', () => {}) })`,
      `it.skipIf(true)('is so [A-1]', () => {})`,
    ]
    for (const text of texts) expect(ids(text)).toEqual(['A-1 false'])
  })
})
