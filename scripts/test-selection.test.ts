import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isSlow, runs, type Selection, storeNames } from './test-selection.ts'

const root = join(import.meta.dirname, '..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** A test file as `vitest list` prints it. */
interface TestFile {
  readonly projectName: string
  readonly file: string
}

/** Returns, in order, the test files that a script of `package.json` runs, with a value of `FF_TESTS`. */
function filesOf(script: string, selection: Selection | undefined): readonly string[] {
  const [, args] = script.split('vitest run ')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const list = [
    vitest,
    'list',
    '--filesOnly',
    '--json',
    ...(args ?? '').replaceAll('"', '').split(' '),
  ]
  const { FF_TESTS: _, ...environment } = process.env
  const env = selection === undefined ? environment : { ...environment, FF_TESTS: selection }
  const text = execFileSync(process.execPath, list, { cwd: root, encoding: 'utf8', env })
  const files: readonly TestFile[] = JSON.parse(text)
  const names = files.map(
    ({ projectName, file }) => `${projectName}: ${file.slice(root.length + 1)}`,
  )
  return names.sort()
}

/** Returns the paths of all files below a folder whose names end with `.test.ts` or `.test.tsx`. */
function testFilesBelow(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.name === 'node_modules' || entry.name === 'dist') return []
    if (entry.isDirectory()) return testFilesBelow(path)
    return /\.test\.tsx?$/.test(entry.name) ? [path] : []
  })
}

/**
 * Returns the calls of `fc.assert` and `fc.check` in a formatted file. Each call ends at the first
 * line that is not indented more than its first line.
 */
function randomAssertionsIn(text: string): readonly string[] {
  const call = /^( *)(?! ).*\bfc\.(?:assert|check)\(.*(?:\n(?:\1 .*)?(?=\n))*(?:\n\1[})].*)?/gm
  return text.match(call) ?? []
}

describe('The test files of each value of FF_TESTS', () => {
  const byDefault = filesOf(scripts.test, undefined)
  const slow = filesOf(scripts['test:slow'], 'slow')
  const all = filesOf(scripts.test, 'all')

  it('Without FF_TESTS, the default tests run', () => {
    expect(filesOf(scripts.test, 'default')).toEqual(byDefault)
    expect(scripts.test).not.toContain('FF_TESTS')
    expect(scripts['test:slow']).toMatch(/^FF_TESTS=slow /)
  })

  it('The default tests and the slow tests together are all tests', () => {
    expect([...new Set([...byDefault, ...slow])].sort()).toEqual(all)
  })

  it('All tests are all test files of the packages, the standalone server and the scripts', () => {
    const folders = [
      ...readdirSync(join(root, 'packages')).flatMap((name) =>
        ['src', 'test'].map((folder) => join('packages', name, folder)),
      ),
      ...['src', 'test'].map((folder) => join('examples/standalone', folder)),
    ]
    const files = [
      ...folders.flatMap(testFilesBelow),
      ...readdirSync(join(root, 'scripts'))
        .filter((name) => name.endsWith('.test.ts'))
        .map((name) => join('scripts', name)),
    ]
    // The tests of @ff/react run with two releases of React.
    const paths = new Set(all.map((file) => file.replace(/^[\w-]+: /, '')))
    expect([...paths].sort()).toEqual(files.sort())
  })

  it('The last line of a run counts exactly the files of the slow tests', () => {
    const inProject = (file: string) =>
      file.replace(/^[\w-]+: (?:packages\/[\w-]+|examples\/standalone)\//, '')
    expect(all.filter((file) => isSlow(inProject(file)))).toEqual(slow)
  })

  it('Only property tests and tests of stores are both default tests and slow tests', () => {
    const both = byDefault.filter((file) => slow.includes(file))
    const sized = all.filter((file) => /\.(?:property|stores)\.test\.tsx?$/.test(file))
    expect(both).toEqual(sized)
    expect(sized.length).toBeGreaterThan(50)
  })

  it('All drills and all files whose names say that they are slow are slow tests', () => {
    const named = all.filter((file) => /\/test\/drills\/|\.slow\.test\.tsx?$/.test(file))
    expect(slow.filter((file) => !/\.(?:property|stores)\.test\./.test(file))).toEqual(named)
    expect(named.length).toBeGreaterThan(40)
  })
})

it('The tests of stores use the embedded stores by default, and the databases among the slow tests', () => {
  expect(storeNames('default')).toEqual(['memory', 'SQLite'])
  expect(storeNames('slow')).toEqual(['PostgreSQL'])
  expect(storeNames('all')).toEqual(['memory', 'SQLite', 'PostgreSQL'])
})

it('By default, a property has a tenth of its runs and at least 30, and otherwise all of them', () => {
  expect([10, 30, 100, 300, 301, 20_000].map((all) => runs(all, 30, 'default'))).toEqual([
    10, 30, 30, 30, 31, 2000,
  ])
  expect([10, 20_000].map((all) => runs(all, 30, 'slow'))).toEqual([10, 20_000])
  expect([10, 20_000].map((all) => runs(all, 30, 'all'))).toEqual([10, 20_000])
})

describe('The random tests', () => {
  const files = testFilesBelow('packages').map((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return { file, text, assertions: randomAssertionsIn(text) }
  })
  const random = files.filter(({ assertions }) => assertions.length > 0)
  const properties = files.filter(({ file }) => file.includes('.property.test.'))

  it('Only property tests, slow tests and drills use random data', () => {
    const permitted = /\.(?:property|slow)\.test\.tsx?$|\/test\/drills\//
    const others = random.filter(({ file }) => !permitted.test(file))
    expect(random.length).toBeGreaterThan(40)
    expect(others.map(({ file }) => file)).toEqual([])
  })

  it('Every assertion of a property test has a number of runs that depends on FF_TESTS', () => {
    const withoutNumber = properties.filter(({ assertions }) =>
      assertions.some((assertion) => !/\bnumRuns\b/.test(assertion)),
    )
    expect(withoutNumber.map(({ file }) => file)).toEqual([])
    const fixed = properties.filter(({ text }) => /\bnumRuns(?::| =) (?!runs\()/.test(text))
    expect(fixed.map(({ file }) => file)).toEqual([])
  })
})
