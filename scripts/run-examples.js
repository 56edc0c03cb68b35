// @ts-check
// Runs all examples. Each checks its own results and exits with a non-zero code if they are wrong.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const examples = join(import.meta.dirname, '..', 'examples')
let failed = 0

for (const name of readdirSync(examples).sort()) {
  const folder = join(examples, name)
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (scripts?.example === undefined) continue
  console.log(`\n— ${name}`)
  const [command, ...args] = scripts.example.split(' ')
  const { status } = spawnSync(command, args, { cwd: folder, stdio: 'inherit', timeout: 120_000 })
  if (status !== 0) failed += 1
  console.log(status === 0 ? `${name}: ok` : `${name}: FAILED`)
}

console.log(failed === 0 ? '\nAll examples passed.' : `\n${failed} of the examples failed.`)
process.exitCode = failed === 0 ? 0 : 1
