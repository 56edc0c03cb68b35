import type { createServer, IncomingMessage } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { listen } from '../../../server/test/node/listening.ts'
import { createFlagClient, createLocalClient } from '../../src/node.ts'

const ends: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function started(respond: Parameters<typeof createServer>[1]) {
  const listening = await listen(respond)
  ends.push(() => listening.close())
  return listening
}

it.each([301, 302, 303, 307, 308])(
  'The SDK key is not sent to another host, and onError receives the target of the redirect %i.',
  async (status) => {
    const received: (string | undefined)[] = []
    const other = await started((request: IncomingMessage, response) => {
      received.push(request.url)
      response.end('{}')
    })
    const target = `http://localhost:${other.port}/in`
    const { url } = await started((_, response) => {
      response.writeHead(status, { location: `${target}?token=1` }).end()
    })
    for (const create of [createFlagClient, createLocalClient]) {
      const errors: unknown[] = []
      const client = create({
        ...{ url, sdkKey: 'ff_secret', transport: 'request' },
        onError: (error: unknown) => errors.push(error),
      })
      await expect
        .poll(() => errors.map(String))
        .toEqual([
          `Error: The flag server ${url} is not available: ${status}, redirected to ${target}`,
        ])
      await client.close()
    }
    expect(received).toEqual([])
  },
)
