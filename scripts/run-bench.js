import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'tsup'

/**
 * Runs the benchmarks of packages, one folder each, on the built packages. Parameters: names of
 * packages, or `package/benchmark` for one. Each starts the processes that it needs from its own file.
 */
for (const name of process.argv.slice(2)) await run(...name.split('/'))

async function run(packageName, only) {
  const folder = join(import.meta.dirname, '../packages', packageName, 'bench')
  const all = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'main.ts')))
  if (only !== undefined && !all.includes(only)) {
    throw new Error(`no such benchmark: ${only}; there are: ${all}`)
  }
  const outDir = await mkdtemp(join(folder, '.built-'))
  try {
    await build({
      entry: Object.fromEntries(all.map((name) => [name, join(folder, name, 'main.ts')])),
      config: false,
      silent: true,
      format: 'esm',
      target: 'node20',
      platform: 'node',
      skipNodeModulesBundle: true,
      splitting: false,
      outDir,
    })
    for (const name of only === undefined ? all : [only]) {
      const file = join(outDir, `${name}.js`)
      const { status } = spawnSync(process.execPath, ['--expose-gc', file], { stdio: 'inherit' })
      if (status !== 0) process.exitCode = 1
    }
  } finally {
    await rm(outDir, { recursive: true, force: true })
  }
}
