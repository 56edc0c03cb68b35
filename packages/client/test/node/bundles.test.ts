import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { build, type Format } from 'esbuild'
import { expect, it, onTestFinished } from 'vitest'

/** Prints the name of the `WebSocket` that a client receives in a Node release without one. */
const PROGRAM = `
import { nodeWebSocket } from './web-socket.ts'
delete globalThis.WebSocket
console.log(nodeWebSocket()?.name)
`

/** Writes the program as one file of the folder `app`, and another script in the folder `other`. */
async function bundled(format: Format, file: string, hasPackage = true): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ff-bundle-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const resolveDir = join(import.meta.dirname, '../../src/node')
  const stdin = { contents: PROGRAM, resolveDir }
  const outfile = join(folder, 'app', file)
  await build({ stdin, outfile, format, bundle: true, platform: 'node', logLevel: 'error' })
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write('app/package.json', JSON.stringify({ main: file }))
  write('other/main.mjs', `await import('../app/${file}')`)
  if (hasPackage) write('app/node_modules/ws/index.js', 'module.exports = class Installed {}')
  symlinkSync(outfile, join(folder, 'other/executable'))
  return folder
}

/** Runs a script, and returns its output. */
async function run(cwd: string, script: string): Promise<string> {
  // The packages of the repository must not be found.
  const env = { ...process.env, NODE_PATH: '' }
  const { stdout } = await promisify(execFile)(process.execPath, [script], { cwd, env })
  return stdout.trim()
}

it.each([
  ['cjs', 'index.cjs'],
  ['esm', 'index.mjs'],
] as const)(
  'A bundle in the format %s finds `ws` beside itself, however it is started.',
  async (format, file) => {
    const folder = await bundled(format, file)
    const scripts = [`app/${file}`, 'app', 'other/main.mjs', 'other/executable']
    for (const script of scripts)
      expect([script, await run(folder, script)]).toEqual([script, 'Installed'])
  },
)

it('A bundle without `ws` receives no WebSocket, also if the package is in the working directory.', async () => {
  const cwd = join(await bundled('cjs', 'index.cjs'), 'app')
  const alone = await bundled('cjs', 'index.cjs', false)
  expect(await run(cwd, join(alone, 'app/index.cjs'))).toBe('undefined')
})
