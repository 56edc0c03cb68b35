import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageNames, root, sourceFiles } from './source-files.ts'

/** What each package may depend on at run time. A package imports only from lower levels. */
const GRAPH: Readonly<Record<string, PackageRule>> = {
  core: { level: 0, internal: [], external: ['murmurhash', 're2js'], optionalPeers: ['zod'] },
  protocol: {
    level: 1,
    internal: ['core'],
    external: [],
    optionalPeers: ['zod'],
    typesOnly: ['core'],
  },
  storage: {
    level: 2,
    internal: ['core', 'protocol'],
    external: ['@photostructure/sqlite', 'kysely'],
    optionalPeers: ['fast-check', 'vitest'],
    typesOnly: ['protocol'],
  },
  server: {
    level: 3,
    internal: ['core', 'protocol', 'storage'],
    external: ['undici', 'ws', 'zod'],
    optionalPeers: ['openid-client', 'stripe'],
  },
}

interface PackageRule {
  readonly level: number
  readonly internal: readonly string[]
  readonly external: readonly string[]
  readonly optionalPeers?: readonly string[]
  /** Packages of ours whose imports must vanish at run time. */
  readonly typesOnly?: readonly string[]
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly publishConfig: { readonly exports: Manifest['exports'] }
}

const NO_HOME = ['utils', 'util', 'common', 'shared', 'helpers', 'lib', 'types']

function manifestOf(name: string): Manifest {
  return JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
}

describe('the package graph', () => {
  it('has a rule for every package, and a package for every rule', () => {
    expect(packageNames).toEqual(Object.keys(GRAPH).sort())
  })

  it('points only downwards', () => {
    for (const [name, rule] of Object.entries(GRAPH)) {
      for (const other of rule.internal) {
        expect(GRAPH[other]?.level, `${name} → ${other}`).toBeLessThan(rule.level)
      }
    }
  })

  describe.each(packageNames)('%s', (name) => {
    const manifest = manifestOf(name)
    const rule = GRAPH[name]

    it('depends on exactly what the table says', () => {
      const allowed = [
        ...(rule?.internal ?? []).map((other) => `@ff/${other}`),
        ...(rule?.external ?? []),
      ]
      expect(Object.keys(manifest.dependencies ?? {}).sort()).toEqual(allowed.sort())
      expect(Object.keys(manifest.peerDependencies ?? {}).sort()).toEqual(
        [...(rule?.optionalPeers ?? [])].sort(),
      )
      for (const peer of rule?.optionalPeers ?? []) {
        expect(manifest.peerDependenciesMeta?.[peer]?.optional, peer).toBe(true)
      }
    })

    it('takes every version from the workspace or the catalog', () => {
      const versions = { ...manifest.dependencies, ...manifest.devDependencies }
      for (const [dependency, version] of Object.entries(versions)) {
        expect(version, dependency).toMatch(/^(workspace:\*|catalog:)$/)
      }
    })

    it('publishes the same entries without the source condition', () => {
      const published = structuredClone(manifest.exports) as Record<string, unknown>
      for (const target of Object.values(published)) {
        if (typeof target === 'object' && target !== null) {
          delete (target as Record<string, unknown>)['@ff/source']
        }
      }
      expect(manifest.publishConfig.exports).toEqual(published)
    })

    it('imports only for their types the packages it may use only so', () => {
      for (const file of sourceFiles(name)) {
        for (const statement of importsOf(readFileSync(file, 'utf8'))) {
          const other = /^@ff\/([a-z]+)/.exec(statement.source)?.[1]
          if (other === undefined || rule?.typesOnly?.includes(other) !== true) continue
          expect(statement.typeOnly, `${file}: ${statement.source}`).toBe(true)
        }
      }
    })

    it('has a name for every folder', () => {
      for (const file of sourceFiles(name)) {
        for (const part of file.slice(root.length).split('/')) expect(NO_HOME).not.toContain(part)
      }
    })
  })
})

/** The import and re-export statements of a module, and whether they leave nothing behind. */
function importsOf(code: string): { source: string; typeOnly: boolean }[] {
  const statements = code.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?from\s+['"]([^'"]+)['"]/gm)
  return [...statements].map(([, type, source = '']) => ({ source, typeOnly: type !== undefined }))
}
