import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const output = mkdtempSync(join(tmpdir(), 'ff-core-'))

/** Returns the packages that a built file and its chunks import, and all their code. */
function read(file: string): { readonly packages: readonly string[]; readonly code: string } {
  const code = readFileSync(file, 'utf8')
  const names = [...code.matchAll(/^(?:import|export)\b[^;]*?(?:from )?"([^"]+)";$/gm)]
  const imported = names.map(([, name = '']) => name)
  const files = imported.filter((name) => name.startsWith('.'))
  const parts = files.map((name) => read(join(dirname(file), name)))
  const packages = imported.filter((name) => !name.startsWith('.'))
  return {
    packages: [...packages, ...parts.flatMap((part) => part.packages)],
    code: [code, ...parts.map((part) => part.code)].join('\n'),
  }
}

describe('The built main entry', () => {
  beforeAll(() => {
    const recipe = ['--config', join(root, 'tsup.config.ts'), '--no-dts', '--out-dir', output]
    const { status, stderr } = spawnSync(join(root, 'node_modules/.bin/tsup'), recipe, {
      cwd: join(root, 'packages/core'),
      encoding: 'utf8',
    })
    expect(status, stderr).toBe(0)
  })
  afterAll(() => rmSync(output, { recursive: true }))

  it('The built main entry imports only one hash function: no schemas, regular expressions or built-ins', () => {
    expect(new Set(read(join(output, 'index.js')).packages)).toEqual(new Set(['murmurhash']))
  })

  it('The built schema entry imports zod, which proves that the test can fail', () => {
    expect(read(join(output, 'schema.js')).packages).toContain('zod')
  })

  it.each([
    ['explain', 'explainFlag'],
    ['changes', 'mergeChanges'],
    ['flag-set-root', 'flagSetRoot'],
    ['typed-flags', 'defineFlags'],
    ['flag-types', 'defineFlags'],
    ['fingerprint', 'hash128'],
    ['authoring', 'moveRanges'],
    ['authoring', 'findIssues'],
  ])('The built entry %s contains %s, and the main entry does not', (entry, name) => {
    const definition = `function ${name}(`
    expect(read(join(output, `${entry}.js`)).code).toContain(definition)
    expect(read(join(output, 'index.js')).code).not.toContain(definition)
  })

  it.each(['flag-set-root', 'flag-types'])('The built entry %s contains no engine', (entry) => {
    const { code, packages } = read(join(output, `${entry}.js`))
    expect(packages).toEqual([])
    expect(code).not.toMatch(/function (compileFlagSet|evaluateFlag|parseContext)\(/)
    expect(read(join(output, 'typed-flags.js')).code).toContain('function evaluateFlag(')
  })

  it('The built main entry generates no code at run time, as a strict content security policy requires', () => {
    const { code } = read(join(output, 'index.js'))
    expect(code).toContain('compileFlagSet')
    expect(code).not.toMatch(/\beval\s*\(|\bFunction\s*\(|\bimport\s*\(/)
  })
})
