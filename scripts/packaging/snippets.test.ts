import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { packageNames } from '../source-files.ts'
import { type EmptyProject, installedProject, MINUTE_MS } from './empty-project.ts'
import { freePort } from './free-port.ts'
import { type Program, readmes, snippetsOf } from './snippets.ts'

const snippets = readmes.map(snippetsOf)

it('Every snippet of a README is a complete program or a region of an example', () => {
  expect(snippets.flatMap(({ fragments }) => fragments)).toEqual([
    'packages/storage/README.md: packages/storage/src/sqlite/sqlite.contract.test.ts#contract',
  ])
})

it(
  'The programs of all README files compile and run in an empty project',
  async () => {
    const programs = snippets.flatMap((page) => page.programs)
    expect(programs.length).toBeGreaterThan(0)
    const others = ['zod', '@photostructure/sqlite@1', '@openfeature/web-sdk@^1.10.0']
    const project = await installedProject({ packages: packageNames, others })
    for (const { name, code } of programs) project.write(`src/${name}.ts`, code)
    await project.compile()
    for (const program of programs) await runProgram(project, program)
  },
  4 * MINUTE_MS,
)

/** The time in which a program ends or starts to serve. */
const START_LIMIT_MS = 60_000

const LISTENING = 'listening'
const LOCAL_PORT = /(localhost:|127\.0\.0\.1:)\d+/

/** Runs a program until it ends, or until it has responded to the requests of its page. */
async function runProgram(project: EmptyProject, program: Program): Promise<void> {
  const { name, command, responses, variables } = program
  const port = await freePort()
  const cwd = join(project.folder, 'run', name)
  mkdirSync(cwd, { recursive: true })
  const env = { ...process.env, ...variables, PORT: port }
  const file = join(project.folder, 'dist', `${name}.js`)
  const running = spawn(process.execPath, [file], { cwd, env, stdio: 'inherit' })
  onTestFinished(() => void running.kill('SIGKILL'))
  const ended = once(running, 'exit').then(([code]) => `ended with code ${code}`)
  const outcome = await Promise.race([ended, listening(port)])
  if (command === undefined) expect([LISTENING, 'ended with code 0'], name).toContain(outcome)
  else expect(outcome, name).toBe(LISTENING)
  if (command !== undefined) {
    const strict = command.replace(/^curl/, 'curl --silent --show-error --fail-with-body')
    await project.run('sh', ['-c', strict.replace(LOCAL_PORT, `$1${port}`)])
  }
  for (const { url, text } of responses) {
    const response = await fetch(url.replace(LOCAL_PORT, `$1${port}`))
    expect(await response.text(), `${name}: ${url}`).toBe(text)
  }
}

/** Resolves when a server responds at the port. */
async function listening(port: string): Promise<string> {
  const deadline = Date.now() + START_LIMIT_MS
  while (Date.now() < deadline) {
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
    if (response !== undefined) return LISTENING
    await sleep(100)
  }
  return `has neither ended nor listened within ${START_LIMIT_MS} ms`
}
