import { expect, it } from 'vitest'
import { report, sized } from '../../../server/test/drills/scale.ts'
import {
  CONVERGED_WITHIN_MS,
  converge,
  localClient,
  type ObservedClient,
  observeUntilTheEnd,
  remoteClient,
} from './observed-client.ts'
import { ServedFile } from './served-file.ts'

const RESTARTS = sized({ full: 100, small: 3 })
/** The number of clients of each kind. */
const CLIENTS = { socket: 20, 'long-poll': 15, local: 15 } as const

const VARIATIONS = '/projects/shop/flags/counter/variations'

it(
  'Clients follow a server that is killed again and again, and never show a fallback or an older value',
  async () => {
    const file = await ServedFile.create({ project: 'shop' })
    await file.start()
    const { data } = await file.manage<{ data: { id: string }[] }>('GET', VARIATIONS)
    const variation = `${VARIATIONS}/${data[0]?.id}`
    const set = (count: number) => file.manage('PUT', variation, { value: `value ${count}` })
    const clients = await connect(file)
    expect(clients).toHaveLength(50)
    await converge(clients, 0)
    observeUntilTheEnd(clients)
    let slowestMs = 0
    for (let round = 1; round <= RESTARTS; round += 1) {
      await set(round)
      await file.restart()
      const startedAt = performance.now()
      await converge(clients, round)
      slowestMs = Math.max(slowestMs, performance.now() - startedAt)
    }
    report(
      `${RESTARTS} kills: ${clients.length} clients had the last version at most ` +
        `${Math.round(slowestMs)} ms after each start`,
    )
  },
  RESTARTS * CONVERGED_WITHIN_MS,
)

async function connect(file: ServedFile): Promise<readonly ObservedClient[]> {
  const { url } = file
  const client = await createKey(file, 'client')
  const server = await createKey(file, 'server')
  const clients: ObservedClient[] = []
  for (const transport of ['socket', 'long-poll'] as const) {
    for (let n = 0; n < CLIENTS[transport]; n += 1) {
      clients.push(remoteClient({ url, sdkKey: client }, transport))
    }
  }
  for (let n = 0; n < CLIENTS.local; n += 1) clients.push(localClient({ url, sdkKey: server }))
  return clients
}

async function createKey(file: ServedFile, kind: 'client' | 'server'): Promise<string> {
  const path = '/projects/shop/envs/live/sdk-keys'
  return (await file.manage<{ key: string }>('POST', path, { name: kind, kind })).key
}
