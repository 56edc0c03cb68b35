import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const output = mkdtempSync(join(tmpdir(), 'ff-core-'))

/** What a built file and the files it takes in import from elsewhere, and all their code. */
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

describe('the built main entry', () => {
  beforeAll(() => {
    const recipe = ['--config', join(root, 'tsup.config.ts'), '--no-dts', '--out-dir', output]
    const { status, stderr } = spawnSync(join(root, 'node_modules/.bin/tsup'), recipe, {
      cwd: join(root, 'packages/core'),
      encoding: 'utf8',
    })
    expect(status, stderr).toBe(0)
  }, 60_000)
  afterAll(() => rmSync(output, { recursive: true }))

  it('needs nothing but one hash function: no schemas, no regular expressions, no platform', () => {
    expect(new Set(read(join(output, 'index.js')).packages)).toEqual(new Set(['murmurhash']))
  })

  it('is found to need more where it does, so that the test above can fail', () => {
    expect(read(join(output, 'schema.js')).packages).toContain('zod')
  })

  it.each([
    ['explain', 'explainFlag'],
    ['changes', 'mergeChanges'],
    ['typed-flags', 'defineFlags'],
    ['fingerprint', 'hash128'],
    ['authoring', 'moveRanges'],
    ['authoring', 'findIssues'],
  ])('leaves to the entry %s what is only there: %s', (entry, name) => {
    const definition = `function ${name}(`
    expect(read(join(output, `${entry}.js`)).code).toContain(definition)
    expect(read(join(output, 'index.js')).code).not.toContain(definition)
  })

  it('makes no code while it runs, so that a strict content security policy lets it', () => {
    const { code } = read(join(output, 'index.js'))
    expect(code).toContain('compileFlagSet')
    expect(code).not.toMatch(/\beval\s*\(|\bFunction\s*\(|\bimport\s*\(/)
  })
})
