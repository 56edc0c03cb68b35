// @ts-check
// Runs all examples, or those with the given names, two at a time. Each checks its own results and exits with a non-zero code if
// they are wrong. An example with its own lockfile is not part of the workspace; its packages are
// installed first.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const examples = join(import.meta.dirname, '..', 'examples')
const INSTALL = ['npx', '-y', 'pnpm@10.34.9', 'install', '--frozen-lockfile', '--prefer-offline']
/** The number of examples that run at the same time. Most of them mainly wait. */
const LANES = 2

/**
 * Runs a command in a folder. Fails if the command takes more than five minutes.
 *
 * @param {string[]} command
 * @param {string} cwd
 * @returns {Promise<{ succeeds: boolean, output: string }>}
 */
async function run([program = '', ...args], cwd) {
  const child = spawn(program, args, { cwd, timeout: 300_000, stdio: ['ignore', 'pipe', 'pipe'] })
  const [[code], ...outputs] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ])
  return { succeeds: code === 0, output: outputs.join('') }
}

/**
 * Runs one example and prints its output. Returns true if it succeeds.
 *
 * @param {string} name
 * @param {string} command
 */
async function runExample(name, command) {
  const start = Date.now()
  const folder = join(examples, name)
  const isSeparate = existsSync(join(folder, 'pnpm-lock.yaml'))
  const install = isSeparate ? await run(INSTALL, folder) : { succeeds: true, output: '' }
  const result = install.succeeds ? await run(command.split(' '), folder) : install
  const seconds = Math.round((Date.now() - start) / 1000)
  console.log(`\n— ${name}\n${result.output}`)
  console.log(`${name}: ${result.succeeds ? 'ok' : 'FAILED'}, ${seconds} s`)
  return result.succeeds
}

const named = process.argv.slice(2)
const waiting = readdirSync(examples)
  .filter((name) => named.length === 0 || named.includes(name))
  .sort()
  .flatMap((name) => {
    const { scripts } = JSON.parse(readFileSync(join(examples, name, 'package.json'), 'utf8'))
    return scripts?.example === undefined ? [] : { name, command: String(scripts.example) }
  })
let failed = 0

async function runWaiting() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (!(await runExample(next.name, next.command))) failed += 1
  }
}

await Promise.all(Array.from({ length: LANES }, runWaiting))
console.log(failed === 0 ? '\nAll examples passed.' : `\n${failed} of the examples failed.`)
process.exitCode = failed === 0 ? 0 : 1
