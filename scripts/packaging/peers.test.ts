import { describe, expect, it } from 'vitest'
import { packageNames } from '../source-files.ts'
import { installedProject, MINUTE_MS } from './empty-project.ts'
import { manifestOf } from './tarball.ts'

/** The newest major version of Vitest that runs on this Node release. */
const NEWEST_VITEST = Number.parseInt(process.versions.node, 10) < 22 ? '4' : '5'

/** Tests of the contract suites that together use every function of the peers and take a second. */
const SOME_CONTRACT_TESTS = 'rate limit|same results in the tested store'

/** Returns the optional peers of all packages, each with its range. */
function peers(): Record<string, string> {
  const all: Record<string, string> = {}
  for (const name of packageNames) Object.assign(all, manifestOf(name).peerDependencies)
  return all
}

/** Returns the oldest version of a range that begins with it, such as `20.0.0` for `>=20 <24`. */
function oldestOf(range: string): string {
  const [major, minor = '0', patch = '0'] = /\d+(?:\.\d+)*/.exec(range)?.[0].split('.') ?? []
  if (major === undefined) throw new Error(`The range "${range}" has no oldest version.`)
  return [major, minor, patch].join('.')
}

const oldest = () => Object.entries(peers()).map(([name, range]) => `${name}@${oldestOf(range)}`)

const newest = () =>
  Object.entries({ ...peers(), vitest: NEWEST_VITEST }).map(([name, range]) => `${name}@${range}`)

/** The entries whose declarations need peers that compile only with `skipLibCheck`. */
const LENIENT = ['@ff/client/vercel']

/** Returns a module that imports every entry of every package that is checked strictly, or not. */
function importsOfAllEntries(isStrict: boolean): string {
  const entries = packageNames.flatMap((name) =>
    Object.keys(manifestOf(name).exports)
      .filter((entry) => !entry.endsWith('.json'))
      .map((entry) => `@ff/${name}${entry.slice(1)}`),
  )
  const checked = entries.filter((entry) => LENIENT.includes(entry) !== isStrict)
  return checked.map((entry, n) => `export type * as entry${n} from '${entry}'\n`).join('')
}

describe.each([
  { age: 'oldest', versions: oldest },
  { age: 'newest', versions: newest },
])('the $age supported peers', ({ age, versions }) => {
  it(
    `All packages compile and run beside the ${age} supported version of each peer`,
    async () => {
      const project = await installedProject({ packages: packageNames, others: versions() })
      project.write('src/entries.ts', importsOfAllEntries(true))
      project.write('lenient/entries.ts', importsOfAllEntries(false))
      const programs = ['peers.ts', 'contract.test.ts', 'data-plane.cts', 'sqlite.cts']
      for (const program of programs) project.copyProgram(program)
      await project.compile()
      const lenient = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext']
      await project.run('npx', ['tsc', ...lenient, '--target', 'es2022', 'lenient/entries.ts'])
      expect(await project.run('node', ['dist/peers.js'])).toBe('done\n')
      const run = ['vitest', 'run', '--dir', 'dist', '-t', SOME_CONTRACT_TESTS]
      expect(await project.run('npx', run)).toMatch(/Tests .*\d+ passed/)
    },
    4 * MINUTE_MS,
  )
})
