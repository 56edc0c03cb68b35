import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  expectRefusal,
  flagChange,
  flagDefinition,
  flagRemoval,
  METADATA,
  publishedSegment,
  segmentChange,
} from '../contract/samples/fixtures.ts'
import { newId } from '../contract/samples/sample-fields.ts'
import { sqlite } from '../sqlite/sqlite.ts'

/** Returns an environment in which definitions and keys were published, changed and removed. */
async function published() {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  const { storage } = sqlite({ database })
  await storage.migrate()
  const environmentId = newId()
  const kept = flagDefinition({ key: 'kept' })
  const gone = flagDefinition({ key: 'gone' })
  const segment = publishedSegment()
  const keys = (added: string[], removed: string[] = []) =>
    ({ kind: 'segmentKeys', segmentId: segment.id, list: 'included', added, removed }) as const
  const publications = [
    [flagChange(kept), flagChange(gone), segmentChange(segment)],
    [flagChange({ ...kept, isActive: false }), keys(['a', 'b'])],
    [flagRemoval(gone.id), keys(['c'], ['a'])],
    [flagChange(kept)],
  ]
  for (const changes of publications) await storage.publish(environmentId, changes, METADATA)
  return { database, storage, environmentId }
}

describe('loadFlagSet', () => {
  it('An undamaged flag set is loaded', async () => {
    const { storage, environmentId } = await published()
    const flagSet = await storage.loadFlagSet(environmentId)
    expect(flagSet?.flags.map(({ key }) => key)).toEqual(['kept'])
    expect(flagSet?.segments[0]?.included).toEqual(['b', 'c'])
  })

  it.each([
    `update ff_publication set body = replace(body, '"kept"', '"kepT"')`,
    `update ff_publication set body = replace(body, '"b"', '"x"')`,
    `update ff_publication set body = '{}' where kind = 'segment'`,
    `delete from ff_publication where kind = 'flag' and version = 4`,
    `delete from ff_publication where kind = 'included' and version = 2`,
    `update ff_publication_head set entity_id = 'x' where kind = 'segment'`,
    `update ff_publication_head set version = 2 where kind = 'flag' and version = 4`,
    `update ff_publication_head set version = 1 where kind = 'flag' and version = 3`,
    'delete from ff_publication_head',
    'update ff_environment_version set version = 3',
    'update ff_environment_version set digest = 0',
    `update ff_environment_version set environment_id = 'x'`,
  ])('Loading a flag set fails with UNAVAILABLE after this damage: %s', async (damage) => {
    const { database, storage, environmentId } = await published()
    database.exec(damage)
    await expectRefusal(storage.loadFlagSet(environmentId), 'UNAVAILABLE')
  })

  it('An environment without publications has no flag set', async () => {
    const { storage } = await published()
    const environmentId = newId()
    await storage.publish(environmentId, [], METADATA)
    expect(await storage.loadFlagSet(environmentId)).toBeUndefined()
  })
})
