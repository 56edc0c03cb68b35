import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageNames, root, sourceFiles } from './source-files.ts'

/** The permitted runtime dependencies of each package. A package imports only from lower levels. */
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
    external: ['ws'],
  },
  management: {
    level: 4,
    internal: ['core', 'protocol', 'server', 'storage'],
    external: ['undici', 'zod'],
    optionalPeers: ['openid-client', 'stripe'],
  },
}

interface PackageRule {
  readonly level: number
  readonly internal: readonly string[]
  readonly external: readonly string[]
  readonly optionalPeers?: readonly string[]
  /** Internal packages from which only types may be imported. */
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

/** Folder names that do not describe their contents. */
const VAGUE_NAMES = ['utils', 'util', 'common', 'shared', 'helpers', 'lib', 'types']

function manifestOf(name: string): Manifest {
  return JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
}

describe('the package graph', () => {
  it('The package graph has exactly one rule for each package', () => {
    expect(packageNames).toEqual(Object.keys(GRAPH).sort())
  })

  it('The package graph permits only imports from lower levels', () => {
    for (const [name, rule] of Object.entries(GRAPH)) {
      for (const other of rule.internal) {
        expect(GRAPH[other]?.level, `${name} → ${other}`).toBeLessThan(rule.level)
      }
    }
  })

  describe.each(packageNames)('%s', (name) => {
    const manifest = manifestOf(name)
    const rule = GRAPH[name]

    it(`@ff/${name} has exactly the permitted dependencies`, () => {
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

    it(`@ff/${name} takes its dependency versions from the workspace or the catalog`, () => {
      const versions = { ...manifest.dependencies, ...manifest.devDependencies }
      for (const [dependency, version] of Object.entries(versions)) {
        expect(version, dependency).toMatch(/^(workspace:\*|catalog:)$/)
      }
    })

    it(`@ff/${name} publishes its entries without the source condition`, () => {
      const published = structuredClone(manifest.exports) as Record<string, unknown>
      for (const target of Object.values(published)) {
        if (typeof target === 'object' && target !== null) {
          delete (target as Record<string, unknown>)['@ff/source']
        }
      }
      expect(manifest.publishConfig.exports).toEqual(published)
    })

    it(`@ff/${name} imports only types from packages that are marked typesOnly`, () => {
      for (const file of sourceFiles(name)) {
        for (const statement of importsOf(readFileSync(file, 'utf8'))) {
          const other = /^@ff\/([a-z]+)/.exec(statement.source)?.[1]
          if (other === undefined || rule?.typesOnly?.includes(other) !== true) continue
          expect(statement.typeOnly, `${file}: ${statement.source}`).toBe(true)
        }
      }
    })

    it(`@ff/${name} has no folder with a vague name`, () => {
      for (const file of sourceFiles(name)) {
        for (const part of file.slice(root.length).split('/'))
          expect(VAGUE_NAMES).not.toContain(part)
      }
    })
  })
})

/** Returns the imports and re-exports of a module; `typeOnly` is `true` for those of types. */
function importsOf(code: string): { source: string; typeOnly: boolean }[] {
  const statements = code.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?from\s+['"]([^'"]+)['"]/gm)
  return [...statements].map(([, type, source = '']) => ({ source, typeOnly: type !== undefined }))
}
