import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, bench, describe } from 'vitest'
import { newContextSample } from '../src/contract/samples/context-samples.ts'
import { memory } from '../src/index.ts'
import type { ContextSample, Storage } from '../src/ports/storage.ts'
import type { EvaluationCount } from '../src/ports/usage.ts'
import { sqlite } from '../src/sqlite/sqlite.ts'

const MINUTE_MS = 60_000
const START = Date.UTC(2026, 0, 1)

/** The counts of one second in an environment with 100 flags and three outcomes per flag. */
const counts: readonly EvaluationCount[] = Array.from({ length: 300 }, (_, index) => ({
  environmentId: 'environment',
  flagId: `flag-${index % 100}`,
  minute: '',
  variationId: `variation-${Math.floor(index / 100)}`,
  reason: 'TARGETING_MATCH',
  source: 'rest',
  instanceId: 'instance',
  count: 17,
  micros: 900,
}))

const known = contextSamples(100)

function contextSamples(length: number): readonly ContextSample[] {
  return Array.from({ length }, () => newContextSample({ environmentId: 'environment' }))
}

function countsOf(minute: number): readonly EvaluationCount[] {
  const timestamp = new Date(START + minute * MINUTE_MS).toISOString()
  return counts.map((count) => ({ ...count, minute: timestamp }))
}

const folder = await mkdtemp(join(tmpdir(), 'ff-bench-'))
const stores: readonly (readonly [string, Storage])[] = [
  ['SQLite', sqlite({ path: join(folder, 'flags.db') }).storage],
  ['memory', memory().storage],
]

for (const [name, storage] of stores) {
  await storage.migrate()
  let minute = 0

  describe(`${name}, one call`, () => {
    bench('300 counts of a minute with stored counts', () =>
      storage.addEvaluationCounts(countsOf(0)),
    )
    bench('300 counts of a new minute', () => {
      minute += 1
      return storage.addEvaluationCounts(countsOf(minute))
    })
    bench('100 context samples of stored contexts', () => storage.recordContextSamples(known))
    bench('100 context samples of new contexts', () =>
      storage.recordContextSamples(contextSamples(100)),
    )
    bench('The totals of a flag over all minutes', async () => {
      const flag = { environmentId: 'environment', flagId: 'flag-7' }
      await storage.loadEvaluationCounts({ ...flag, from: '', to: '9' })
    })
  })
}

afterAll(async () => {
  for (const [, storage] of stores) await storage.close()
  await rm(folder, { recursive: true })
})
