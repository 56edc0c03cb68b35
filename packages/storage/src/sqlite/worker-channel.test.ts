import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { expectRefusal } from '../contract/samples/fixtures.ts'
import { WorkerChannel } from './worker-channel.ts'

const SELECT_1 = [{ sql: 'select 1', parameters: [] }]

function channelTo(program: string) {
  const start = () => new Worker(program, { eval: true })
  return new WorkerChannel({ path: 'somewhere', hasReader: true, start })
}

describe('WorkerChannel', () => {
  it('All requests of a worker channel fail with UNAVAILABLE when its worker ends', async () => {
    const channel = channelTo(
      `require('node:worker_threads').parentPort.once('message', () => process.exit(3))`,
    )
    await Promise.all([
      expectRefusal(channel.write(SELECT_1), 'UNAVAILABLE'),
      expectRefusal(channel.read(SELECT_1), 'UNAVAILABLE'),
    ])
    await expectRefusal(channel.read(SELECT_1), 'UNAVAILABLE')
    await channel.close()
  })

  it('A worker channel sends all requests of one event-loop turn in one message and resolves each', async () => {
    const channel = channelTo(
      `const { parentPort } = require('node:worker_threads')
      parentPort.on('message', (requests) => parentPort.postMessage(
        requests.map(({ id, type }) => ({ id, rows: [[{ type, together: requests.length }]] }))))`,
    )
    const readSoon = async () => {
      for (let step = 0; step < 5; step += 1) await undefined
      return channel.read(SELECT_1)
    }
    const together = await Promise.all([channel.write(SELECT_1), readSoon()])
    expect(together).toEqual([
      [[{ type: 'write', together: 2 }]],
      [[{ type: 'read', together: 2 }]],
    ])
    expect(await channel.read(SELECT_1)).toEqual([[{ type: 'read', together: 1 }]])
  })

  it('A worker channel rejects a request that cannot be sent and remains usable', async () => {
    const channel = channelTo(
      `const { parentPort } = require('node:worker_threads')
      parentPort.on('message', (requests) => parentPort.postMessage(
        requests.map(({ id }) => ({ id, rows: [] }))))`,
    )
    const parameters = [(() => undefined) as never]
    await expect(channel.write([{ sql: 'select ?', parameters }])).rejects.toThrow()
    expect(await channel.read(SELECT_1)).toEqual([])
  })

  it('The error of a failed worker is the cause of the error of its worker channel', async () => {
    const channel = channelTo(`throw new Error('out of luck')`)
    const outcome = await channel.read(SELECT_1).catch((error: unknown) => error)
    expect(outcome).toMatchObject({ code: 'UNAVAILABLE', cause: { message: 'out of luck' } })
  })

  it('A worker channel does not start its worker before the first request', async () => {
    let started = 0
    const start = () => {
      started += 1
      return new Worker('', { eval: true })
    }
    await new WorkerChannel({ path: 'somewhere', hasReader: true, start }).close()
    expect(started).toBe(0)
  })
})
