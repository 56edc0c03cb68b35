import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'tsup'

/**
 * Runs the benchmarks of the server, the management plane and the clients that are named on the command line, or
 * all of them, with the built packages. Each folder in `bench` with a `main.ts` is a benchmark.
 */
const FOLDERS = ['server', 'management', 'client'].map((name) => {
  return join(import.meta.dirname, '../packages', name, 'bench')
})
const benchmarks = new Map(FOLDERS.flatMap((folder) => benchmarksIn(folder)))
const named = process.argv.slice(2)
const unknown = named.filter((name) => !benchmarks.has(name))
if (unknown.length > 0) {
  throw new Error(`Unknown benchmark: ${unknown}. Available benchmarks: ${[...benchmarks.keys()]}`)
}
for (const name of named.length > 0 ? named : benchmarks.keys()) await run(name)

function benchmarksIn(folder) {
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'main.ts')))
  return names.map((name) => [name, folder])
}

async function run(name) {
  const folder = benchmarks.get(name)
  const outDir = await mkdtemp(join(folder, '.built-'))
  try {
    await build({
      entry: { [name]: join(folder, name, 'main.ts') },
      config: false,
      silent: true,
      format: 'esm',
      target: 'node20',
      platform: 'node',
      skipNodeModulesBundle: true,
      splitting: false,
      outDir,
    })
    const file = join(outDir, `${name}.js`)
    const { status } = spawnSync(process.execPath, ['--expose-gc', file], { stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  } finally {
    await rm(outDir, { recursive: true, force: true })
  }
}
