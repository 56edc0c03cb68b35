import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DefinitionChange } from '@ff/storage'
import { memory } from '@ff/storage'
import { manyFlags } from '../../../core/bench/workload.ts'
import { createFlagServer } from '../../src/flag-server.ts'
import { toNodeHandler } from '../../src/node/http.ts'
import { addSdkKey, flagChange, OCCASION, seed } from '../../test/seed.ts'
import { serveAnswers } from './child.ts'
import type { Target } from './load.ts'

/** As a whole, status line, head and body. */
export interface Samples {
  readonly full: string
  readonly notModified: string
}

const answers = {
  /** Microseconds of CPU so far, of all threads. */
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  rss: () => process.memoryUsage.rss(),
}

/** Everything that a server does by default, with a hundred flags. */
export async function runService(): Promise<void> {
  const { storage, rateLimiter, changeFeed } = memory()
  const { live } = await seed(storage)
  const { sdkKey } = await addSdkKey(storage, live, { rateLimit: 1_000_000_000 })
  const { flags, segments } = manyFlags(100)
  const changes: DefinitionChange[] = [
    ...segments.map((definition) => ({ kind: 'segment', id: definition.id, definition }) as const),
    ...flags.map(flagChange),
  ]
  await storage.publish(live.environmentId, changes, OCCASION)
  const server = createFlagServer({ storage, rateLimiter, changeFeed })
  const port = await listen(toNodeHandler(server))
  serveAnswers({ ...answers, start: (): Target => ({ port, sdkKey }) })
}

/** The least that any server of this kind does: parses the body, and answers always the same. */
export function runFloor(): void {
  const start = async ({ full, notModified }: Samples) => {
    const [, body = ''] = full.split('\r\n\r\n')
    const headers = headersOf(full)
    const without = headersOf(notModified)
    const port = await listen((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk) => chunks.push(chunk))
      request.on('end', () => {
        const { context } = JSON.parse(Buffer.concat(chunks).toString())
        if (context === undefined) response.writeHead(400).end()
        else if (request.headers['if-none-match'] === undefined) {
          response.writeHead(200, headers).end(body)
        } else response.writeHead(304, without).end()
      })
    })
    return { port }
  }
  serveAnswers({ ...answers, start })
}

/** Those that Node does not send by itself, names and values in turn. */
function headersOf(answer: string): string[] {
  const [head = ''] = answer.split('\r\n\r\n')
  const lines = head.split('\r\n').slice(1)
  return lines
    .filter((line) => !/^(date|connection|keep-alive):/i.test(line))
    .flatMap((line) => line.split(': '))
}

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
