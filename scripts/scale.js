import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { runBuilt } from './built-program.js'

// Measures what one process carries. `docs/scale.md` lists the parameters.
const root = join(import.meta.dirname, '..')
const build = ['-y', 'pnpm@10.34.9', '--reporter=silent', 'build:js']
const { status } = spawnSync('npx', build, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
if (status !== 0) throw new Error('The packages could not be built.')
const program = join(root, 'packages/management/bench/scale/measure.ts')
process.exitCode = await runBuilt(program, process.argv.slice(2))
