// @ts-check
// Runs all examples. Each checks its own results and exits with a non-zero code if they are wrong.
// An example with its own lockfile is not part of the workspace; its packages are installed first.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const examples = join(import.meta.dirname, '..', 'examples')
const INSTALL = ['npx', '-y', 'pnpm@10.34.9', 'install', '--frozen-lockfile', '--prefer-offline']
let failed = 0

/**
 * Runs a command in a folder, and returns true if it succeeds within five minutes.
 *
 * @param {string[]} command
 * @param {string} cwd
 */
function run([program = '', ...args], cwd) {
  return spawnSync(program, args, { cwd, stdio: 'inherit', timeout: 300_000 }).status === 0
}

for (const name of readdirSync(examples).sort()) {
  const folder = join(examples, name)
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (scripts?.example === undefined) continue
  console.log(`\n— ${name}`)
  const isSeparate = existsSync(join(folder, 'pnpm-lock.yaml'))
  const succeeds = (!isSeparate || run(INSTALL, folder)) && run(scripts.example.split(' '), folder)
  if (!succeeds) failed += 1
  console.log(succeeds ? `${name}: ok` : `${name}: FAILED`)
}

console.log(failed === 0 ? '\nAll examples passed.' : `\n${failed} of the examples failed.`)
process.exitCode = failed === 0 ? 0 : 1
