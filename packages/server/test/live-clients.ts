import { expect } from 'vitest'
import type { FlagServer } from '../src/flag-server.ts'

/** Returns the number of live clients according to the metrics, which must be public. */
export async function liveClients(
  flags: Pick<FlagServer, 'fetch'>,
  transport: 'poll' | 'ws',
): Promise<number> {
  const metrics = await (await flags.fetch(new Request('http://flags.test/metrics'))).text()
  const line = new RegExp(`^ff_live_clients\\{transport="${transport}"\\} (\\d+)$`, 'm')
  return Number(line.exec(metrics)?.[1])
}

/** Waits until a server has this number of pending polls. Its metrics must be public. */
export async function untilPending(
  flags: Pick<FlagServer, 'fetch'>,
  wanted: number,
): Promise<void> {
  const pending = () => liveClients(flags, 'poll')
  await expect.poll(pending, { interval: 5 }).toBe(wanted)
}
