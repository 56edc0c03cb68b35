import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { refusedAdvisories } from './audit.js'
import { linesWithSecrets } from './find-secrets.js'
import { packageNames, root } from './source-files.ts'

const read = (file: string) => readFileSync(join(root, file), 'utf8')

const WEEK_MINUTES = 7 * 24 * 60
/** The maximum number of third-party packages on which the packages of the server depend. */
const MOST_DEPENDENCIES = 10

/** The oldest versions without known vulnerabilities; each major version that is in use. */
const OLDEST: Readonly<Record<string, readonly string[]>> = {
  ws: ['8.23.0'],
  undici: ['6.24.0', '7.24.0'],
  zod: ['4.3.7'],
}

interface Manifest {
  readonly engines?: { readonly node?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const manifests: readonly (readonly [string, Manifest])[] = [
  'package.json',
  ...['packages', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}/package.json`),
  ),
].map((file) => [file, JSON.parse(read(file))])

const workspace = read('pnpm-workspace.yaml')
const lock = read('pnpm-lock.yaml')

/** Returns all versions of a package in the lock file. */
function lockedVersions(name: string): string[] {
  const entry = new RegExp(`^  '?${name}@([^'(:]+)'?:$`, 'gm')
  return [...lock.matchAll(entry)].map(([, version = '']) => version)
}

function isAtLeast(version: string, oldest: string): boolean {
  return version.localeCompare(oldest, 'en', { numeric: true }) >= 0
}

describe('dependencies', () => {
  it.each(manifests)('%s takes every third-party version from the catalog', (_file, manifest) => {
    const { dependencies = {}, devDependencies = {}, peerDependencies = {} } = manifest
    for (const [name, specifier] of Object.entries({
      ...dependencies,
      ...devDependencies,
      ...peerDependencies,
    })) {
      // Examples with their own lockfile link the packages.
      const own = /^(?:workspace:[*^]|link:(?:\.\.\/)+[\w/-]+)$/
      const allowed = name.startsWith('@ff') ? own : /^catalog:(?:published)?$/
      expect(specifier, name).toMatch(allowed)
    }
  })

  it('The catalog pins exact versions', () => {
    const catalog = /^catalog:\n((?: {2}.*\n)+)/m.exec(workspace)?.[1] ?? ''
    const versions = catalog
      .trimEnd()
      .split('\n')
      .map((line) => line.split(': ').at(-1))
    expect(versions.length).toBeGreaterThan(20)
    for (const version of versions) expect(version).toMatch(/^\d+\.\d+\.\d+(?:-beta\.\d+)?$/)
  })

  it('The server packages depend on at most ten third-party packages', () => {
    const names = packageNames.flatMap((name) => {
      const manifest: Manifest = JSON.parse(read(`packages/${name}/package.json`))
      return Object.keys(manifest.dependencies ?? {}).filter((other) => !other.startsWith('@ff/'))
    })
    expect(new Set(names).size).toBeLessThanOrEqual(MOST_DEPENDENCIES)
  })

  it('Every package of the lock file comes from a registry and has an integrity hash', () => {
    const resolutions = lock.match(/^ {4}resolution: .*$/gm) ?? []
    expect(resolutions.length).toBeGreaterThan(100)
    for (const resolution of resolutions) {
      expect(resolution).toMatch(/^ {4}resolution: \{integrity: sha512-[\w+/=]+\}$/)
    }
  })

  it.each(Object.entries(OLDEST))('All versions of %s are new enough', (name, oldest) => {
    const versions = lockedVersions(name)
    expect(versions).not.toEqual([])
    for (const version of versions) {
      const major = version.split('.')[0]
      const minimum = oldest.find((candidate) => candidate.startsWith(`${major}.`))
      expect(minimum === undefined ? version : isAtLeast(version, minimum), version).not.toBe(false)
      expect(isAtLeast(version, oldest[0] ?? ''), version).toBe(true)
    }
  })

  it('Every package requires a version of Node that the tests run on', () => {
    for (const name of packageNames) {
      const { engines }: Manifest = JSON.parse(read(`packages/${name}/package.json`))
      expect(engines?.node, name).toBe('>=20.19')
    }
  })
})

describe('installation', () => {
  it('New versions wait for a week before they can be added to the lock file', () => {
    const minutes = /^minimumReleaseAge: (\d+)$/m.exec(workspace)?.[1]
    expect(Number(minutes)).toBeGreaterThanOrEqual(WEEK_MINUTES)
  })

  it('Only one package can run a script while it is installed', () => {
    const builds = /^allowBuilds:\n((?: {2}.*\n)+)/m.exec(workspace)?.[1] ?? ''
    expect(builds.match(/^.*: true$/gm)).toEqual(['  esbuild: true'])
  })

  it('Continuous integration installs exactly the versions of the lock file', () => {
    const installs = read('.ci/run').match(/^.*\bpnpm\b.* install\b.*$/gm) ?? []
    expect(installs).not.toEqual([])
    for (const install of installs) expect(install).toContain('--frozen-lockfile')
  })
})

describe('known vulnerabilities', () => {
  const advisory = { github_advisory_id: 'GHSA-1', module_name: 'ws', title: 'Crash' }
  const today = '2026-06-15'

  it.each([
    ['high', 1],
    ['critical', 1],
    ['moderate', 0],
  ])('A vulnerability of the severity %s causes %i refusals', (severity, count) => {
    const advisories = [{ ...advisory, severity }]
    expect(refusedAdvisories(advisories, { exceptions: [], today })).toHaveLength(count)
  })

  it.each([
    ['2026-06-15', 0],
    ['2026-06-14', 1],
  ])('An exception until %s leaves %i refusals', (until, count) => {
    const advisories = [{ ...advisory, severity: 'high' }]
    const exceptions = [{ id: 'GHSA-1', reason: 'not reachable', until }]
    expect(refusedAdvisories(advisories, { exceptions, today })).toHaveLength(count)
  })

  it('Each exception has a reason and a last day', () => {
    for (const exception of JSON.parse(read('scripts/audit-exceptions.json'))) {
      expect(exception).toEqual({
        id: expect.stringMatching(/^GHSA-/),
        reason: expect.stringMatching(/\w/),
        until: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      })
    }
  })
})

describe('secrets', () => {
  it('No file of the repository contains a secret', () => {
    const list = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
    const files = list.split('\0').filter((file) => file !== '')
    expect(files.length).toBeGreaterThan(500)
    const found = files.flatMap((file) =>
      linesWithSecrets(read(file)).map((line) => `${file}:${line}`),
    )
    expect(found).toEqual([])
  })

  it.each([
    [`ff_${'0f'.repeat(32)}`],
    [`token: ffat_${'a1'.repeat(32)}.`],
    [`sk_${'live'}_${'aB3'.repeat(8)}`],
    [`-----BEGIN RSA ${'PRIVATE'} KEY-----`],
    [`AKIA${'Z9'.repeat(8)}`],
  ])('%s is recognized as a secret', (text) => {
    expect(linesWithSecrets(`a\n${text}\n`)).toEqual([2])
  })

  it.each([['ff_…'], [`ff_${'0'.repeat(64)}`], ['ff_[0-9a-f]{64}'], ['sk_test_1']])(
    '%s is not a secret',
    (text) => {
      expect(linesWithSecrets(text)).toEqual([])
    },
  )
})
