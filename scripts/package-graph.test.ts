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
    external: ['kysely'],
    optionalPeers: ['@photostructure/sqlite', 'fast-check', 'ioredis', 'pg', 'vitest'],
    typesOnly: ['protocol'],
  },
  client: {
    level: 2,
    internal: ['core', 'protocol'],
    external: [],
    optionalPeers: ['flags', 'ws'],
    typesOnly: ['core', 'protocol/sdk', 'protocol/management'],
    // The local client contains the engine.
    except: /src\/local[/.-]/,
  },
  openfeature: {
    level: 3,
    internal: ['client', 'protocol'],
    external: [],
    optionalPeers: [
      '@openfeature/core',
      '@openfeature/react-sdk',
      '@openfeature/server-sdk',
      '@openfeature/web-sdk',
      'react',
    ],
    typesOnly: ['client'],
  },
  react: {
    level: 3,
    internal: ['client', 'core', 'protocol'],
    external: [],
    optionalPeers: ['@types/react'],
    peers: ['react'],
    typesOnly: ['core', 'protocol/sdk', 'protocol/management'],
  },
  vue: {
    level: 3,
    internal: ['client', 'core', 'protocol'],
    external: [],
    peers: ['vue'],
    typesOnly: ['core', 'protocol/sdk', 'protocol/management'],
  },
  dashboard: { level: 2, internal: [], external: [], bundled: ['protocol'] },
  server: {
    level: 3,
    internal: ['core', 'protocol', 'storage'],
    external: ['ws'],
    optionalPeers: ['pino'],
  },
  management: {
    level: 4,
    internal: ['core', 'protocol', 'server', 'storage'],
    external: ['undici', 'zod'],
    optionalPeers: ['openid-client', 'stripe', 'swagger-ui-dist'],
  },
}

interface PackageRule {
  readonly level: number
  readonly internal: readonly string[]
  readonly external: readonly string[]
  readonly optionalPeers?: readonly string[]
  /** The peers without which the package has no purpose. */
  readonly peers?: readonly string[]
  /** Internal packages that are part of the built files, so that none has to be installed. */
  readonly bundled?: readonly string[]
  /** Internal packages, or entries of them, from which only types may be imported. */
  readonly typesOnly?: readonly string[]
  /** The files to which `typesOnly` does not apply. */
  readonly except?: RegExp
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

/** Matches the name and the version of each entry of a catalog in the lock file. */
const LOCKED_VERSION = /^ {4}'?([^':]+)'?:\n.*\n {6}version: (.+)$/gm

/** Returns the lines after the header that are indented further. */
function sectionOf(file: string, header: string): string {
  const text = readFileSync(join(root, file), 'utf8')
  const indent = / */.exec(header)?.[0] ?? ''
  return new RegExp(`^${header}:\\n((?:${indent} +.*\\n)+)`, 'm').exec(text)?.[1] ?? ''
}

describe('the package graph', () => {
  it('The lock file resolves a published range and the pin of a package to the same version', () => {
    const resolved = (catalog: string) =>
      new Map(
        [...sectionOf('pnpm-lock.yaml', `  ${catalog}`).matchAll(LOCKED_VERSION)].map(
          ([, name = '', version = '']) => [name, version],
        ),
      )
    const pinned = resolved('default')
    const inBoth = [...resolved('published')].filter(([name]) => pinned.has(name))
    expect(inBoth.map(([name]) => name)).toEqual(['undici', 'ws', 'zod'])
    for (const [name, version] of inBoth) expect(version, name).toBe(pinned.get(name))
  })

  it('The package graph has exactly one rule for each package', () => {
    expect(packageNames).toEqual(Object.keys(GRAPH).sort())
  })

  it('The package graph permits only imports from lower levels', () => {
    for (const [name, rule] of Object.entries(GRAPH)) {
      for (const other of [...rule.internal, ...(rule.bundled ?? [])]) {
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
        [...(rule?.optionalPeers ?? []), ...(rule?.peers ?? [])].sort(),
      )
      const optional = Object.entries(manifest.peerDependenciesMeta ?? {})
        .filter(([, meta]) => meta.optional)
        .map(([peer]) => peer)
      expect(optional.sort()).toEqual([...(rule?.optionalPeers ?? [])].sort())
    })

    it(`@ff/${name} publishes ranges and is tested with the pinned versions`, () => {
      const published = { ...manifest.dependencies, ...manifest.peerDependencies }
      for (const [dependency, version] of Object.entries(published)) {
        const expected = dependency.startsWith('@ff/') ? 'workspace:^' : 'catalog:published'
        expect(version, dependency).toBe(expected)
      }
      for (const [dependency, version] of Object.entries(manifest.devDependencies ?? {})) {
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

    it(`@ff/${name} imports only the permitted packages of this repository`, () => {
      const permitted = [name, ...(rule?.internal ?? []), ...(rule?.bundled ?? [])]
      for (const file of sourceFiles(name)) {
        for (const { source } of importsOf(readFileSync(file, 'utf8'))) {
          const other = /^@ff\/([a-z]+)/.exec(source)?.[1]
          if (other !== undefined) expect(permitted, `${file}: ${source}`).toContain(other)
        }
      }
    })

    it(`@ff/${name} imports only types from packages that are marked typesOnly`, () => {
      for (const file of sourceFiles(name)) {
        if (rule?.except?.test(file)) continue
        for (const statement of importsOf(readFileSync(file, 'utf8'))) {
          const [, entry = '', other = ''] = /^@ff\/(([a-z]+).*)/.exec(statement.source) ?? []
          if (![entry, other].some((each) => rule?.typesOnly?.includes(each))) continue
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
