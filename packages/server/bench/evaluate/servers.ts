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

/** Whole responses: status line, headers and body. */
export interface Samples {
  readonly full: string
  readonly notModified: string
}

const answers = {
  /** Returns the CPU time of all threads so far, in microseconds. */
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  rss: () => process.memoryUsage.rss(),
}

/** Runs a flag server with default options and a hundred flags. */
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

/** Runs a minimal server for comparison. It parses the body and always sends the same response. */
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

/** Returns the headers that Node does not add automatically, as names and values in alternation. */
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
