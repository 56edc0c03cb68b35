import { stat } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { report, sized } from '../../../server/test/drills/scale.ts'
import { CountingWriter, readKept } from './counting-writer.ts'
import { createDataFile, evaluate, withStorage } from './data-file.ts'
import { pause, startServer } from './server-process.ts'

/** The maximum size of the write-ahead log. */
const ROOM_KIB = sized({ full: 2048, small: 512 })
const REFUSALS = sized({ full: 200, small: 20 })
const TIMEOUT_MS = 120_000

describe('a server on a full disk', () => {
  it(
    'A server on a full disk refuses writes, still evaluates, and recovers when there is space',
    async () => {
      const file = await createDataFile()
      const writer = new CountingWriter(file)
      const size = (await stat(file.path)).size
      const fileKiB = Math.max(Math.ceil(size / 1024), ROOM_KIB)
      const cramped = await startServer(file.path, { fileKiB })

      let stop = false
      const evaluations: number[] = []
      const evaluating = (async () => {
        for (; !stop; await pause(2))
          evaluations.push((await evaluate(cramped.url, file.sdkKey)).status)
      })()
      const refusals: (number | undefined)[] = []
      while (refusals.length < REFUSALS) refusals.push(await writer.write(cramped.url))
      const before = await evaluate(cramped.url, file.sdkKey)
      stop = true
      await evaluating
      expect(new Set(refusals)).toEqual(new Set([503]))
      expect(new Set(evaluations)).toEqual(new Set([200]))
      cramped.process.kill('SIGKILL')
      await cramped.ended

      const roomy = await startServer(file.path)
      expect(await evaluate(roomy.url, file.sdkKey)).toEqual(before)
      await writer.settle(roomy.url)
      roomy.process.kill('SIGTERM')
      expect(await roomy.ended).toBe(0)
      writer.assertKept(await withStorage(file.path, (storage) => readKept(storage, file.tenant)))
      report(
        `full disk: ${writer.acknowledged} writes acknowledged and stored, ${refusals.length} refused, ` +
          `${evaluations.length} evaluations answered`,
      )
    },
    TIMEOUT_MS,
  )
})
