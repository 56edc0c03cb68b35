import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { installedProject, MINUTE_MS } from './empty-project.ts'

const DATA_PLANE = ['core', 'protocol', 'storage', 'server']

/** The packages that only the control plane or an optional part needs. */
const UNWANTED = [
  '@ff/management',
  '@photostructure/sqlite',
  'openid-client',
  'stripe',
  'undici',
  'zod',
]

/** The output of `sqlite.cts`, which finds a driver only in Node releases with `node:sqlite`. */
const SQLITE_OUTPUT =
  process.getBuiltinModule('node:sqlite') === undefined
    ? 'this Node release has no node:sqlite. Use Node 22.13 or later, or run `npm install @photostructure/sqlite@1`'
    : 'opened'

it(
  'A CommonJS project compiles and runs with only the tarballs of the data plane',
  async () => {
    const project = await installedProject({ packages: DATA_PLANE, moduleType: 'commonjs' })
    const unwanted = UNWANTED.filter((name) =>
      existsSync(join(project.folder, 'node_modules', name)),
    )
    expect(unwanted).toEqual([])

    project.copyProgram('data-plane.cts')
    project.copyProgram('sqlite.cts')
    // `peers.test.ts` checks the types, because those of the stored records require zod.
    await project.compile('--noCheck')
    expect(await project.run('node', ['dist/data-plane.cjs'])).toBe('{"new-checkout":true}')
    expect(await project.run('node', ['dist/sqlite.cjs'])).toContain(SQLITE_OUTPUT)
  },
  3 * MINUTE_MS,
)
