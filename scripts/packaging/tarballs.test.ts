import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { packageNames, root } from '../source-files.ts'
import { MINUTE_MS } from './empty-project.ts'
import { manifestOf, tarballOf } from './tarball.ts'

/** Runs a command in the root folder. Throws an error with its output if it fails. */
async function run(command: string, parameters: readonly string[]): Promise<string> {
  const process = promisify(execFile)(command, parameters, { cwd: root })
  const fail = (error: { stdout?: string }) => Promise.reject(new Error(error.stdout))
  return (await process.catch(fail)).stdout
}

const CODE = /^package\/dist\/[\w-]+(\.d\.ts|\.js)$/
/** Matches also the files of the application, without source maps. */
const APPLICATION =
  /^package\/dist\/(?:[\w-]+(\.d\.ts|\.js)|app\/[\w./-]+\.(?:html|txt|js|css|svg|png|woff2)(?:\.br|\.gz)?)$/

describe.each(packageNames)('the tarball of %s', (name) => {
  it(`The tarball of @ff/${name} contains the code and the types of every entry, and nothing but the build`, async () => {
    const tarball = tarballOf(name)
    const files = (await run('tar', ['-tzf', tarball])).trim().split('\n')
    const targets = Object.values(manifestOf(name).exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    )
    for (const target of targets) expect(files).toContain(`package/${target.slice(2)}`)
    expect(files).toEqual(expect.arrayContaining(['package/LICENSE', 'package/README.md']))
    const built = name === 'dashboard' ? APPLICATION : CODE
    const others = files.filter((file) => !built.test(file))
    expect(others.sort()).toEqual(['package/LICENSE', 'package/README.md', 'package/package.json'])
  })

  it(`The tarball of @ff/${name} declares ranges and no source condition`, () => {
    const manifest = manifestOf(name)
    expect(JSON.stringify(manifest.exports)).not.toContain('@ff/source')
    for (const [dependency, range] of Object.entries(manifest.dependencies ?? {})) {
      expect(range, dependency).toMatch(/^\^\d/)
      if (dependency.startsWith('@ff/')) expect(range).toBe(`^${manifest.version}`)
    }
    for (const [peer, range] of Object.entries(manifest.peerDependencies ?? {})) {
      expect(range, peer).toMatch(/^(\^|>=)\d/)
    }
  })

  it(
    `A second build of @ff/${name} is equal byte by byte`,
    async () => {
      const folder = temporaryFolder()
      const build = `cd packages/${name} && npx tsup --config ../../tsup.config.ts --no-dts --out-dir ${folder}/again`
      await run('bash', ['-c', build])
      await run('tar', ['-xzf', tarballOf(name), '-C', folder])
      const files = readdirSync(join(folder, 'again'))
      expect(files).not.toEqual([])
      for (const file of files) {
        const packed = readFileSync(join(folder, 'package', 'dist', file))
        expect(packed.equals(readFileSync(join(folder, 'again', file))), file).toBe(true)
      }
    },
    MINUTE_MS,
  )

  it(
    `The tarball of @ff/${name} passes publint and attw`,
    async () => {
      await run('npx', ['publint', 'run', tarballOf(name), '--strict'])
      await run('npx', ['attw', tarballOf(name), '--profile', 'esm-only', '--no-color'])
    },
    MINUTE_MS,
  )
})

it(
  'The bill of materials lists the packages and everything that is installed with them',
  async () => {
    const output = join(temporaryFolder(), 'sbom.json')
    await run('node', ['scripts/sbom.js', dirname(tarballOf('core')), output])
    const { bomFormat, components } = JSON.parse(readFileSync(output, 'utf8'))
    expect(bomFormat).toBe('CycloneDX')
    const names = components.map(({ name }: Component) => name)
    for (const name of packageNames) expect(names).toContain(`@ff/${name}`)
    expect(names).toEqual(expect.arrayContaining(['kysely', 'murmurhash', 'ws', 'zod']))
  },
  MINUTE_MS,
)

interface Component {
  readonly name: string
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ff-packaging-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
