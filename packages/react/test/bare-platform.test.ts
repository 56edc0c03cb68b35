// @vitest-environment node
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startFlagServer } from '../../openfeature/test/flag-server.ts'
import { textFlag } from '../../server/test/seed.ts'

interface App {
  run(options: { readonly url: string; readonly sdkKey: string }): Promise<readonly unknown[]>
}

/** Returns a program as a script that defines the variable `app`. */
async function bundle(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, file)],
    bundle: true,
    format: 'iife',
    globalName: 'app',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['@ff/source'],
    // The renderer of the test uses `global`.
    define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

it('The client and the hooks need only timers, `fetch` and `WebSocket`, as on React Native.', async () => {
  const server = await startFlagServer(textFlag('theme', 'dark'))
  // `AbortController` belongs to `fetch`.
  const globals = { setTimeout, clearTimeout, fetch, AbortController, WebSocket }
  const context = createContext({ ...globals })
  // V8 adds a console to each context.
  runInContext('delete globalThis.console', context)
  const absent = ['URL', 'URLSearchParams', 'EventTarget', 'TextEncoder', 'crypto', 'window']
  for (const name of [...absent, 'localStorage', 'console', 'performance', 'navigator']) {
    expect(runInContext(`typeof ${name}`, context)).toBe('undefined')
  }
  runInContext(await bundle('bare/app.js'), context)
  const { run } = runInContext('app', context) as App
  const shown = await run({ url: server.url, sdkKey: server.clientKey })
  expect([...shown]).toEqual([
    expect.stringMatching(/^dark false /),
    'dark false socket',
    expect.stringMatching(/^light false (?:idle|waiting|connecting)$/),
    'dark false socket',
  ])
  await server.stop()
})
