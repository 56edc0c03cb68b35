import { describe, expect, it } from 'vitest'
import { IS_FULL, report, sized } from '../../../server/test/drills/scale.ts'
import { CountingWriter, readKept } from './counting-writer.ts'
import { ask, createDataFile, withStorage } from './data-file.ts'
import { pause, startServer } from './server-process.ts'

const KILLS = sized({ full: 200, small: 4 })
const WRITERS = 4

describe('a server that is killed during writes', () => {
  it('A server that is killed during writes keeps acknowledged writes and restarts quickly', {
    timeout: KILLS * 20_000,
  }, async () => {
    const file = await createDataFile()
    const writers = Array.from({ length: WRITERS }, () => new CountingWriter(file))
    const readyAfter: number[] = []
    const first = await startServer(file.path)
    first.process.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    for (let kill = 0; kill < KILLS; kill += 1) {
      const server = await startServer(file.path)
      readyAfter.push(server.readyAfterMs)
      // An unacknowledged request can be repeated and is applied only once.
      await Promise.all(writers.map((writer) => writer.settle(server.url)))
      const writing = writers.map((writer) => writer.write(server.url))
      await pause(15 + Math.random() * 135)
      server.process.kill('SIGKILL')
      await server.ended
      expect(await Promise.all(writing)).toEqual(writers.map(() => undefined))
      await withStorage(file.path, async (storage) => {
        const kept = await readKept(storage, file.tenant)
        for (const writer of writers) writer.assertKept(kept)
      })
    }
    const last = await startServer(file.path)
    const { orgId, tokens } = file.tenant
    const verifying = `${last.url}/audit/verify?org_id=${orgId}`
    const chain = await ask(verifying, { method: 'GET', token: tokens.owner })
    expect(chain?.data).toMatchObject({ valid: true })
    const acknowledged = writers.reduce((sum, writer) => sum + writer.acknowledged, 0)
    expect(acknowledged).toBeGreaterThan(KILLS)
    const sorted = readyAfter.toSorted((a, b) => a - b)
    const [median = 0, longest = 0] = [sorted[Math.floor(KILLS / 2)], sorted.at(-1)]
    report(
      `${KILLS} kills: ${acknowledged} writes acknowledged, 0 lost; ready again after ` +
        `${Math.round(median)} ms (median), ${Math.round(longest)} ms (longest)`,
    )
    if (!IS_FULL) return
    expect(median).toBeLessThan(1000)
    expect(longest).toBeLessThan(3000)
  })
})
