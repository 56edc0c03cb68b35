import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { installedProject, MINUTE_MS } from './empty-project.ts'
import { startFlagServer } from './flag-server.ts'

const TOOLS = ['esbuild@0.28.2', 'jest@29.7.0', 'vite@8.3.8', 'webpack@5.113.0', 'ws@8.23.0']

const WEBPACK = `
const webpack = require('webpack')
const path = require('node:path').resolve('out')
const bundle = (target, name, filename, output) => {
  return { mode: 'production', target, entry: './dist/' + name, output: { path, filename, ...output } }
}
const bundles = [
  bundle('node20', 'follower.js', 'webpack.cjs'),
  {
    ...bundle('node20', 'follower.js', 'webpack.mjs', { module: true, chunkFormat: 'module' }),
    experiments: { outputModule: true },
  },
  bundle('web', 'page.js', 'webpack-page.js'),
]
webpack(bundles, (error, stats) => {
  if (error || stats.hasErrors()) throw error ?? new Error(stats.toString())
})
`

const JEST = `
import { createFlagClient } from '@ff/client/node'
import { createTestClient } from '@ff/client/testing'
import { defineFlags, text } from '@ff/core/flag-types'

test('Both entries work in a test.', () => {
  const flags = defineFlags({ banner: text('none') })
  expect(createTestClient(flags, { banner: 'hello' }).value('banner')).toBe('hello')
  const options = { url: 'http://127.0.0.1:1', sdkKey: 'ff_1', flags, transport: 'request' }
  const client = createFlagClient({ ...options, onError() {} })
  expect(client.value('banner')).toBe('none')
  client.close()
})
`

/** The output of `follower.ts` if both clients have a transport. */
const following = (transport: string) => `hello ${transport}\nhello ${transport}\n`

/** Runs a bundle in a folder without packages. */
async function runAlone(bundle: string, env: Record<string, string>) {
  const cwd = mkdtempSync(join(tmpdir(), 'ff-bundle-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  copyFileSync(bundle, join(cwd, 'alone.cjs'))
  // The packages of the repository must not be found.
  const settings = { cwd, env: { ...process.env, ...env, NODE_PATH: '' } }
  return promisify(execFile)('node', ['alone.cjs'], settings)
}

it(
  'The packed clients work with TypeScript, esbuild, webpack, Vite and Jest, as docs/clients.md says',
  async () => {
    const { url, sdkKey, setBanner } = await startFlagServer()
    await setBanner('hello')
    const env = { FF_URL: url, FF_SDK_KEY: sdkKey }
    const packages = ['core', 'protocol', 'client']
    const project = await installedProject({ packages, others: TOOLS })
    for (const program of ['follower.ts', 'page.ts']) project.copyProgram(program)
    const run = (script: string) => project.run('node', [script], env)

    await project.compile('--module', 'esnext', '--moduleResolution', 'bundler', '--noEmit')
    await project.compile('--module', 'node16', '--moduleResolution', 'node16', '--noEmit')
    await project.compile()
    expect(await run('dist/follower.js')).toBe(following('socket'))

    for (const [format, outfile] of [
      ['cjs', 'out/esbuild.cjs'],
      ['esm', 'out/esbuild.mjs'],
    ] as const) {
      const options = ['--bundle', '--platform=node', `--format=${format}`, `--outfile=${outfile}`]
      await project.run('npx', ['esbuild', 'src/follower.ts', ...options, '--log-level=error'])
      expect([format, await run(outfile)]).toEqual([format, following('socket')])
    }
    const alone = await runAlone(join(project.folder, 'out/esbuild.cjs'), env)
    const hasOwn = 'WebSocket' in globalThis
    expect(alone.stdout).toBe(following(hasOwn ? 'socket' : 'long-poll'))
    // Each of the two clients writes it once.
    expect(alone.stderr.match(/There is no WebSocket/g)?.length ?? 0).toBe(hasOwn ? 0 : 2)

    project.write('webpack.cjs', WEBPACK)
    await run('webpack.cjs')
    for (const outfile of ['out/webpack.cjs', 'out/webpack.mjs']) {
      expect([outfile, await run(outfile)]).toEqual([outfile, following('socket')])
    }
    const page = readFileSync(join(project.folder, 'out/webpack-page.js'), 'utf8')
    expect(page).toContain('/evaluator/evaluate')

    project.write('index.html', '<script type="module" src="/src/page.ts"></script>')
    await project.run('npx', ['vite', 'build', '--outDir', 'out/page'])
    expect(readdirSync(join(project.folder, 'out/page/assets'))).toHaveLength(1)
    await project.run('npx', ['vite', 'build', '--ssr', 'src/follower.ts', '--outDir', 'out/ssr'])
    expect(await run('out/ssr/follower.js')).toBe(following('socket'))

    project.write('jest.config.js', 'export default { transform: {}, testMatch: ["**/jest/*.js"] }')
    project.write('jest/flags.js', JEST)
    await project.run('npx', ['jest'], { NODE_OPTIONS: '--experimental-vm-modules' })
  },
  6 * MINUTE_MS,
)
