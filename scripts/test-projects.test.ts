import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')

/** Returns the projects of the test files that a command of Vitest selects. */
function projectsOf(args: readonly string[]): ReadonlySet<string> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const list = [vitest, 'list', '--filesOnly', '--json', ...args]
  const text = execFileSync(process.execPath, list, { cwd: root, encoding: 'utf8' })
  const files: readonly { readonly projectName: string }[] = JSON.parse(text)
  return new Set(files.map(({ projectName }) => projectName))
}

it('The command of `pnpm test` runs all projects, except those that test built files', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const args = scripts.test
    .replace(/^vitest run /, '')
    .replaceAll('"', '')
    .split(' ')
  const expected = [...projectsOf([])].filter((name) => !name.startsWith('built-'))
  expect(expected).toContain('core')
  expect([...projectsOf(args)].sort()).toEqual(expected.sort())
})
