import { readFile, rm, writeFile } from 'node:fs/promises'
import { isFlagError } from '@ff/core'
import { sqlite } from '@ff/storage/sqlite'
import { describe, expect, it } from 'vitest'
import { report, sized } from '../../../server/test/drills/scale.ts'
import { createManagedServer } from '../world/managed-server.ts'
import { World } from '../world/world.ts'
import { createDataFile, withStorage } from './data-file.ts'

const FLIPS = sized({ full: 1000, small: 40 })
const LOG_FLIPS = sized({ full: 300, small: 15 })
const CUTS = sized({ full: 200, small: 10 })
const FLAGS = 40
const TIMEOUT_MS = 900_000

/** The messages with which a damaged file can be refused. */
const REFUSALS = [
  /^The data file .* cannot be used: .*\.$/s,
  /^The flags cannot be read at the moment\.$/,
  /^There is no such environment\.$/,
  // The name of a migration is damaged.
  /^The store was migrated by a later release \(unknown migration .*\)\. /s,
]

/** A data file and its write-ahead log, which remains if the server is killed. */
interface Files {
  readonly main: Buffer
  readonly log: Buffer
}

interface Scene {
  readonly closed: Files
  readonly killed: Files
  /**
   * Writes the files and starts a server. Returns the served values or the message of the error.
   */
  serve(files: Files): Promise<string>
  /** The values that were served over time, oldest first. */
  readonly states: readonly string[]
}

describe('a damaged data file', () => {
  it('A data file with a flipped bit is either served unchanged or refused', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const scene = await createScene()
    const newest = scene.states.slice(-1)
    const { main, log } = scene.closed
    await drill('flipped bits', FLIPS, async () => {
      return verdictOf(await scene.serve({ main: withFlip(main), log }), newest)
    })
  })

  it('A data file with a flipped bit in its write-ahead log is served in an older state or refused', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const scene = await createScene()
    const { main, log } = scene.killed
    expect(verdictOf(await scene.serve(scene.killed), scene.states.slice(-1))).toBe('served')
    await drill('flipped bits of the log', LOG_FLIPS, async () => {
      return verdictOf(await scene.serve({ main, log: withFlip(log) }), scene.states)
    })
  })

  it('A data file is served or refused if it or its write-ahead log is truncated', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const scene = await createScene()
    const { closed, killed, states } = scene
    await drill('cuts', CUTS, async () => {
      return verdictOf(
        await scene.serve({ ...closed, main: withCut(closed.main) }),
        states.slice(-1),
      )
    })
    await drill('cuts of the log', CUTS, async () => {
      return verdictOf(await scene.serve({ ...killed, log: withCut(killed.log) }), states)
    })
  })

  it('A file of another format is refused, and an empty file contains no environment', async () => {
    const { serve } = await createScene()
    const log = Buffer.alloc(0)
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
    for (const main of [Buffer.from('{"flags": []}'), png, Buffer.alloc(100_000, 7)]) {
      expect(await serve({ main, log })).toMatch(/cannot be used: file is not a database\.$/)
    }
    expect(await serve({ main: log, log })).toBe('There is no such environment.')
  })
})

async function createScene(): Promise<Scene> {
  const { path, tenant } = await createDataFile()
  const read = async (): Promise<Files> => {
    const log = await readFile(`${path}-wal`).catch(() => Buffer.alloc(0))
    return { main: await readFile(path), log }
  }
  const states: string[] = ['{}']
  const killed = await withStorage(path, async (storage) => {
    const { management } = await World.create(storage)
    const params = { projectId: tenant.project.id }
    const flags: [string, boolean][] = []
    for (let n = 10; n < 10 + FLAGS; n += 1) {
      const key = `flag-${n}`
      await management.createFlag({ params, body: { key, type: 'boolean' } })
      flags.push([key, false])
      states.push(JSON.stringify(Object.fromEntries(flags)))
    }
    return read()
  })
  const closed = await read()
  const serve = async ({ main, log }: Files) => {
    await writeFile(path, main)
    await rm(`${path}-shm`, { force: true })
    await writeFile(`${path}-wal`, log)
    return servedFrom(path, tenant.live.id)
  }
  return { closed, killed, states, serve }
}

async function servedFrom(path: string, environmentId: string): Promise<string> {
  const flags = createManagedServer(sqlite({ path }))
  try {
    await flags.start()
    return JSON.stringify(
      await flags.allOrThrow({ environmentId }, { kind: 'user', key: 'user-1' }),
    )
  } catch (error) {
    if (isFlagError(error)) return error.message
    throw error
  } finally {
    await flags.close()
  }
}

function verdictOf(answer: string, sound: readonly string[]): 'served' | 'refused' {
  if (sound.includes(answer)) return 'served'
  expect(
    REFUSALS.some((refusal) => refusal.test(answer)),
    answer,
  ).toBe(true)
  return 'refused'
}

async function drill(
  what: string,
  times: number,
  once: () => Promise<'served' | 'refused'>,
): Promise<void> {
  const counts = { served: 0, refused: 0 }
  for (let time = 0; time < times; time += 1) counts[await once()] += 1
  report(`${times} ${what}: ${counts.served} served, ${counts.refused} refused`)
}

function withFlip(bytes: Buffer): Buffer {
  const flipped = Buffer.from(bytes)
  const at = Math.floor(Math.random() * bytes.length)
  flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
  return flipped
}

function withCut(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.floor(Math.random() * bytes.length))
}
