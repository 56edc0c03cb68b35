import { expect, it } from 'vitest'
import { report, sized } from '../../../server/test/drills/scale.ts'
import { createDataFile, withStorage } from './data-file.ts'
import { PublishingWriter } from './publishing-writer.ts'
import { pause, startServer } from './server-process.ts'

const KILLS = sized({ full: 100, small: 3 })

it('A publish is applied as a whole or not at all if the server is killed', {
  timeout: KILLS * 20_000,
}, async () => {
  const file = await createDataFile()
  const writer = new PublishingWriter(file)
  const first = await startServer(file.path)
  await writer.begin(first.url)
  first.process.kill('SIGTERM')
  expect(await first.ended).toBe(0)
  for (let kill = 0; kill < KILLS; kill += 1) {
    const server = await startServer(file.path)
    // An unacknowledged publish can be repeated and is applied only once.
    await writer.settle(server.url)
    const before = writer.acknowledged
    const writing = writer.write(server.url)
    await expect.poll(() => writer.acknowledged, { interval: 5 }).toBeGreaterThan(before)
    await pause(Math.random() * 150)
    server.process.kill('SIGKILL')
    await server.ended
    expect(await writing).toBe(undefined)
    await withStorage(file.path, (storage) => writer.assertWhole(storage))
  }
  expect(writer.acknowledged).toBeGreaterThan(KILLS)
  report(`${KILLS} kills: ${writer.acknowledged} publishes acknowledged, 0 lost, 0 partial`)
})
