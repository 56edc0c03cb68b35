import {
  flagChange,
  flagDefinition,
  METADATA,
  publishedSegment,
} from '../src/contract/samples/fixtures.ts'
import { newId } from '../src/contract/samples/sample-fields.ts'
import { SAMPLES, sample } from '../src/contract/samples/samples.ts'
import type { Kind } from '../src/ports/records.ts'
import type { Storage } from '../src/ports/storage.ts'

/** Writes data of every kind: records, publications, counts and observed contexts. */
export async function fillStore(storage: Storage): Promise<void> {
  await storage.migrate()
  for (const kind of Object.keys(SAMPLES) as Kind[]) await storage.insert(kind, sample(kind))
  const environmentId = newId()
  const text = 'Ünïcödé \u{1f600} "quoted" \\ \n \u2028 end'
  await storage.insert('segment', sample('segment', { name: text, description: '' }))
  await storage.insert(
    'rollout',
    sample('rollout', { percentage: 33.333333333333336, increment: 1 }),
  )
  for (let n = 0; n < 1100; n += 100) {
    await storage.transaction('flags', async (tx) => {
      for (let m = n; m < n + 100; m += 1)
        await tx.insert('flag', sample('flag', { key: `f-${m}` }))
    })
  }
  const flag = flagDefinition()
  await storage.publish(environmentId, [flagChange(flag)], METADATA)
  const id = newId()
  const segment = { ...publishedSegment(), id }
  await storage.publish(
    environmentId,
    [{ kind: 'segment', id, definition: segment }, flagChange({ ...flag, isActive: false })],
    METADATA,
  )
  await storage.addEvaluationCounts([
    {
      environmentId,
      flagId: flag.id,
      instanceId: newId(),
      minute: '2030-01-01T00:00',
      variationId: null,
      reason: 'DISABLED',
      source: 'sdk',
      count: 2 ** 40,
      micros: 7,
    },
  ])
}
