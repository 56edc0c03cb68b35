import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'

/**
 * Runs the benchmarks, one folder each, that are named on the command line, or all, on the built
 * packages. Each starts the processes that it needs from its own file.
 */
const here = dirname(fileURLToPath(import.meta.url))
const all = readdirSync(here).filter((name) => existsSync(join(here, name, 'main.ts')))
const named = process.argv.slice(2)
const unknown = named.filter((name) => !all.includes(name))
if (unknown.length > 0) throw new Error(`no such benchmark: ${unknown}; there are: ${all}`)
const outDir = await mkdtemp(join(here, '.built-'))
try {
  await build({
    entry: Object.fromEntries(all.map((name) => [name, join(here, name, 'main.ts')])),
    config: false,
    silent: true,
    format: 'esm',
    target: 'node20',
    platform: 'node',
    skipNodeModulesBundle: true,
    splitting: false,
    outDir,
  })
  for (const name of named.length > 0 ? named : all) {
    const file = join(outDir, `${name}.js`)
    const { status } = spawnSync(process.execPath, ['--expose-gc', file], { stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
} finally {
  await rm(outDir, { recursive: true, force: true })
}
