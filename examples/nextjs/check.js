// @ts-check
// Checks the types, builds the application, starts it, and checks the running application.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'
import {
  checkHost,
  createExampleProject,
  runProgram,
  startHostProcess,
} from '@ff-examples/host-check'

const require = createRequire(import.meta.url)
const NEXT = require.resolve('next/dist/bin/next')
const env = { NEXT_TELEMETRY_DISABLED: '1' }

/** @param {readonly string[]} args */
const run = (...args) => runProgram(args, { cwd: import.meta.dirname, env })

const folder = mkdtempSync(join(tmpdir(), 'ff-nextjs-'))
const path = join(folder, 'flags.db')
try {
  await Promise.all([run(NEXT, 'build'), run(require.resolve('typescript/bin/tsc'))])

  const setUp = createFlagServer({ ...sqlite({ path }), management: createManagement() })
  const project = await createExampleProject(setUp)
  await setUp.close()

  const host = await startHostProcess({
    command: process.execPath,
    args: [NEXT, 'start', '--hostname', '127.0.0.1', '--port', '0'],
    env: { ...env, FLAGS_DB: path },
    ready: /(http:\/\/127\.0\.0\.1:\d+)/,
  })
  const url = host.ready[1] ?? ''
  const page = await (await fetch(url)).text()
  assert.match(page, /Welcome\./)

  // A route handler cannot serve sockets. Clients use polls instead.
  await checkHost({ url: `${url}/flags`, project, hasSocket: false })
  await host.stop()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
