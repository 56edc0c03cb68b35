import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { exportedNames } from './doc-comments.ts'
import { cyclesIn, folderImports, type Graph, importsBetween } from './import-graph.ts'
import { packageNames, root, sourceFiles } from './source-files.ts'

const MAX_FILES_PER_FOLDER = 22
const MAX_LINES_PER_FILE = 300
/** The packages in which folders must not form cycles. Other cycles are only printed. */
const FOLDERS_WITHOUT_CYCLE = [
  'core',
  'protocol',
  'storage',
  'server',
  'management',
  'client',
  'openfeature',
  'react',
  'vue',
  'dashboard',
]

/**
 * The permitted exceptions, as paths below `packages`. Each list must be equal to the list of
 * violations, so that obsolete exceptions are removed. A cycle is the list of its files.
 */
const KNOWN = {
  cycles: [],
  largeFolders: [],
  longFiles: [],
}

const name = (path: string) => relative(join(root, 'packages'), path)
const shown = (cycle: readonly string[]) => cycle.map(name).join(' ')
const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`)
const files = packageNames.flatMap(sourceFiles)
const graphs = packageNames.map((packageName) => importsBetween(sourceFiles(packageName)))
const figures: string[] = []

function keysAbove(counts: ReadonlyMap<string, number>, limit: number): readonly string[] {
  return [...counts]
    .filter(([, count]) => count > limit)
    .map(([path]) => name(path))
    .sort()
}

function largest(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a).slice(0, 3)
  return sorted.map(([path, count]) => `${name(path)} ${count}`).join(', ')
}

afterAll(() => {
  process.stdout.write(`${figures.join('\n')}\n`)
})

describe('source files', () => {
  it('Imports of source files form no cycle, type imports included.', () => {
    const cycles = graphs.flatMap(cyclesIn).map(shown)
    const folders = graphs.flatMap((graph) => cyclesIn(folderImports(graph))).map(shown)
    const imports = graphs.flatMap((graph) => [...graph.values()].map(({ size }) => size))
    const total = imports.reduce((sum, count) => sum + count, 0)
    figures.push(`${files.length} source files, ${total} imports between them`)
    figures.push(`${cycles.length} cycles among files`, ...indented(cycles))
    figures.push(`${folders.length} cycles among folders`, ...indented(folders))
    expect(cycles).toEqual(KNOWN.cycles)
  })

  it.each(FOLDERS_WITHOUT_CYCLE)('Imports between folders of %s form no cycle.', (packageName) => {
    const graph = importsBetween(sourceFiles(packageName))
    expect(cyclesIn(folderImports(graph)).map(shown)).toEqual([])
  })

  it(`A folder directly contains at most ${MAX_FILES_PER_FOLDER} source files.`, () => {
    const counts = new Map<string, number>()
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
    figures.push(`${counts.size} folders; the largest: ${largest(counts)}`)
    expect(keysAbove(counts, MAX_FILES_PER_FOLDER)).toEqual(KNOWN.largeFolders)
  })

  it(`A source file has at most ${MAX_LINES_PER_FILE} lines.`, () => {
    const linesIn = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n').length
    const counts = new Map(files.map((file) => [file, linesIn(file)]))
    figures.push(`The longest files: ${largest(counts)}`)
    expect(keysAbove(counts, MAX_LINES_PER_FILE)).toEqual(KNOWN.longFiles)
  })
})

describe('exported names', () => {
  it('Every exported name has a doc comment.', () => {
    const exported = files.flatMap((file) => {
      return exportedNames(file).map((each) => ({ ...each, file: name(file) }))
    })
    const missing = exported.filter(({ hasComment }) => !hasComment)
    const documented = exported.length - missing.length
    figures.push(`${documented} of ${exported.length} exported names have a doc comment`)
    expect(missing.map((each) => `${each.file} ${each.name}`)).toEqual([])
  })

  it('An exported name without a doc comment is found, and a re-export is left out.', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ff-exports-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'a.ts')
    const lines = [
      '/** A comment. */',
      'export const a = 1, b = 2',
      '// A comment of another kind.',
      'export const c = 3',
      'const d = 4',
      'export { d }',
      "export * from './b.ts'",
      "export { x } from './b.ts'",
      "import { y } from './b.ts'",
      'export { y }',
      '/** A comment of the first overload. */',
      'export function e(f: string): void',
      'export function e(f: number): void {}',
      'export interface G {}',
      'export type H = 1',
      'export class I {}',
      'function j() {}',
    ]
    writeFileSync(file, lines.join('\n'))
    const found = exportedNames(file).filter(({ hasComment }) => !hasComment)
    expect(found.map((each) => each.name)).toEqual(['c', 'd', 'G', 'H', 'I'])
    expect(exportedNames(file)).toHaveLength(8)
  })
})

describe('importsBetween', () => {
  it.each([
    ['an import of a type', "import type { A } from './b.ts'"],
    ['an import of a type among others', "import { type A } from './b.ts'"],
    ['an import of several lines', "import {\n  a,\n  b,\n} from './b.ts'"],
    ['a re-export', "export { a } from './b.ts'"],
    ['a re-export of types', "export type * from './b.ts'"],
    ['an import for its effects', "import './b.ts'"],
    ['a dynamic import', "const a = await import('./b.ts')"],
  ])('importsBetween finds %s.', (_, code) => {
    const folder = mkdtempSync(join(tmpdir(), 'ff-imports-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [a, b] = [join(folder, 'a.ts'), join(folder, 'b.ts')]
    writeFileSync(a, code)
    writeFileSync(b, "import { readFileSync } from 'node:fs'")
    const expected = new Map([
      [a, new Set([b])],
      [b, new Set()],
    ])
    expect(importsBetween([a, b])).toEqual(expected)
  })
})

describe('cyclesIn', () => {
  const graphOf = (edges: Readonly<Record<string, readonly string[]>>): Graph =>
    new Map(Object.entries(edges).map(([from, to]) => [from, new Set(to)]))

  it('An acyclic graph has no cycles.', () => {
    expect(cyclesIn(graphOf({ a: ['b', 'c'], b: ['c'], c: [] }))).toEqual([])
  })

  it('Cycles with a common member are one cycle; a cycle that only refers to them is another.', () => {
    const graph = graphOf({ a: ['b'], b: ['a', 'c'], c: ['b'], d: ['d', 'a'], e: ['d'] })
    expect(cyclesIn(graph)).toEqual([['a', 'b', 'c'], ['d']])
  })
})
