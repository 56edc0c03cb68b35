import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runBuilt } from './built-program.js'

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
for (const name of named.length > 0 ? named : benchmarks.keys()) {
  const code = await runBuilt(join(benchmarks.get(name) ?? '', name, 'main.ts'))
  if (code !== 0) process.exitCode = 1
}

function benchmarksIn(folder) {
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'main.ts')))
  return names.map((name) => [name, folder])
}
