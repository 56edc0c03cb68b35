import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Storage } from '../src/ports/storage.ts'
import { sqlite } from '../src/sqlite/sqlite.ts'
import { runProgram } from './run-program.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { ENVIRONMENT_ID, writePair } from './write-pair.ts'

const KILLS = 4
const TIMEOUT_MS = 120_000

describe('a data file', () => {
  it(
    'A killed process loses no acknowledged transaction and leaves no partial transaction',
    async () => {
      const path = join(await temporaryFolder(), 'flags.db')
      const acknowledged = new Set<string>()
      for (let kill = 0; kill < KILLS; kill += 1) {
        for (const id of await writeUntilKilled(path)) acknowledged.add(id)
        const kept = await idsKeptIn(path)
        expect([...acknowledged].filter((id) => !kept.includes(id))).toEqual([])
      }
      expect(acknowledged.size).toBeGreaterThan(KILLS)
    },
    TIMEOUT_MS,
  )

  it(
    'Several processes that write to one data file lose no transaction',
    async () => {
      const path = join(await temporaryFolder(), 'flags.db')
      const others = [runProgram('writer.ts', path, '10'), runProgram('writer.ts', path, '10')]
      const { storage } = sqlite({ path })
      await storage.migrate()
      const own = Array.from({ length: 40 }, () => randomUUID())
      for (const id of own) await writePair(storage, id)
      for (const { ended } of others) expect(await ended).toBe(0)
      const kept = await allIdsIn(storage)
      await storage.close()
      const printed = others.flatMap(({ lines }) => lines.filter((line) => line !== 'ready'))
      expect(kept).toEqual([...own, ...printed].sort())
      expect(kept).toHaveLength(120)
    },
    TIMEOUT_MS,
  )
})

/** Starts a writer, kills it at a random time, and returns the ids that it acknowledged. */
async function writeUntilKilled(path: string): Promise<readonly string[]> {
  const program = runProgram('writer.ts', path)
  // The first line is `ready`, and each further line acknowledges an id.
  await expect.poll(() => program.lines.length, { interval: 5 }).toBeGreaterThan(2)
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 135))
  program.process.kill('SIGKILL')
  await program.ended
  return program.lines.slice(1)
}

async function idsKeptIn(path: string): Promise<readonly string[]> {
  const { storage } = sqlite({ path })
  await storage.migrate()
  const ids = await allIdsIn(storage)
  await storage.close()
  return ids
}

/** Returns the ids in the store, after checking that each was written by a complete transaction. */
async function allIdsIn(storage: Storage): Promise<readonly string[]> {
  const idsOf = (records: readonly { readonly id: string }[] = []) =>
    records.map(({ id }) => id).sort()
  const ids = idsOf((await storage.list('segment', {})).data)
  const flagSet = await storage.loadFlagSet(ENVIRONMENT_ID)
  expect(idsOf((await storage.list('auditEvent', {})).data)).toEqual(ids)
  expect(idsOf(flagSet?.segments)).toEqual(ids)
  expect(flagSet?.version ?? 0).toBe(ids.length)
  return ids
}
