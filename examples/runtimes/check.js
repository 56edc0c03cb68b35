// @ts-check
// Runs the server in Bun and in Deno, and checks it from Node.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkHost, startHostProcess } from '@ff-examples/host-check'

/**
 * Returns the path of a runtime's program. The npm package of a runtime has one optional dependency
 * for each platform. Throws if none of the installed ones runs here.
 *
 * @param {{ name: string, program: string }} runtime
 */
function programOf({ name, program }) {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve(`${name}/package.json`)
  const platforms = Object.keys(require(manifest).optionalDependencies)
  for (const platform of platforms) {
    try {
      const found = createRequire(manifest).resolve(`${platform}/package.json`)
      const path = join(dirname(found), program)
      if (spawnSync(path, ['--version']).status === 0) return path
    } catch {
      // This platform is not installed.
    }
  }
  throw new Error(`${name} was NOT CHECKED: none of ${platforms.join(', ')} runs here.`)
}

const RUNTIMES = [
  { name: 'bun', program: 'bin/bun', args: ['src/bun.ts'] },
  { name: 'deno', program: 'deno', args: ['run', '--allow-all', '--no-lock', 'src/deno.ts'] },
]

const folder = mkdtempSync(join(tmpdir(), 'ff-runtimes-'))
try {
  for (const runtime of RUNTIMES) {
    const file = join(folder, `${runtime.name}.db`)
    const host = await startHostProcess({
      command: programOf(runtime),
      args: [...runtime.args, file],
      ready: /^ready (.*)$/,
    })
    const { url, project } = JSON.parse(host.ready[1] ?? '')
    console.log(`${runtime.name}:`)
    await checkHost({ url, project, hasSocket: true })
    assert.equal(await host.stop(), 0)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
