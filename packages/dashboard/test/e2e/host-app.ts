import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Starts a server on a free port and returns its URL. It is closed after the test. */
export async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/**
 * Starts an application with the API below `/deep/flags` and the dashboard below `/deep/ui`, from the
 * built packages, and returns its URL. It is stopped after the test.
 */
export async function startHostApp(): Promise<string> {
  const program = join(import.meta.dirname, 'host-app.js')
  const app = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void app.kill())
  const ended = once(app, 'exit').then(() => Promise.reject(new Error('The program has exited.')))
  ended.catch(() => undefined)
  const [text] = await Promise.race([once(app.stdout, 'data'), ended])
  return String(text).trim()
}
