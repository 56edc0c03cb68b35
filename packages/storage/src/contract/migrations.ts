import { describe, expect, it } from 'vitest'
import {
  expectRefusal,
  flagChange,
  flagDefinition,
  METADATA,
  type OpenStorage,
} from './samples/fixtures.ts'
import { newId } from './samples/sample-fields.ts'
import { sample } from './samples/samples.ts'

/** Tests `migrate` and `close`. `open` returns stores that have not been migrated. */
export function describeMigrations(open: OpenStorage): void {
  describe('migrations', () => {
    it('Every call before `migrate` fails with UNAVAILABLE', async () => {
      const storage = await open()
      const flag = sample('flag')
      await expectRefusal(storage.find('flag', flag.id), 'UNAVAILABLE')
      await expectRefusal(storage.list('flag', {}), 'UNAVAILABLE')
      await expectRefusal(storage.insert('flag', flag), 'UNAVAILABLE')
      await expectRefusal(storage.update('flag', flag.id, {}), 'UNAVAILABLE')
      await expectRefusal(
        storage.publish(newId(), [flagChange(flagDefinition())], METADATA),
        'UNAVAILABLE',
      )
      await expectRefusal(storage.loadFlagSet(newId()), 'UNAVAILABLE')
      await expectRefusal(storage.loadChanges(newId(), 0), 'UNAVAILABLE')
      const history = { environmentId: newId(), flagId: flag.id, since: 0 }
      await expectRefusal(storage.loadFlagHistory(history), 'UNAVAILABLE')
      await expectRefusal(storage.addEvaluationCounts([]), 'UNAVAILABLE')
      await expectRefusal(storage.dropEvaluationCounts(''), 'UNAVAILABLE')
      await expectRefusal(storage.markEvaluated([], ''), 'UNAVAILABLE')
      await expectRefusal(storage.addApiCalls([]), 'UNAVAILABLE')
      await expectRefusal(storage.loadApiCalls(), 'UNAVAILABLE')
      await expectRefusal(storage.takeApiCalls(''), 'UNAVAILABLE')
      await expectRefusal(storage.recordContextSamples([]), 'UNAVAILABLE')
      await expectRefusal(storage.purge('flag', { where: { id: flag.id } }), 'UNAVAILABLE')
      await expectRefusal(
        storage.transaction('lock', async () => 'never'),
        'UNAVAILABLE',
      )
      await storage.migrate()
      await storage.insert('flag', flag)
    })

    it('A repeated call of `migrate` keeps all data', async () => {
      const storage = await open()
      await storage.migrate()
      const flag = sample('flag')
      const environmentId = newId()
      await storage.insert('flag', flag)
      await storage.publish(environmentId, [flagChange(flagDefinition())], METADATA)
      const flagSet = await storage.loadFlagSet(environmentId)
      await storage.migrate()
      expect(await storage.find('flag', flag.id)).toEqual(flag)
      expect(await storage.loadFlagSet(environmentId)).toEqual(flagSet)
    })

    it('Concurrent calls of `migrate` succeed', async () => {
      const storage = await open()
      await Promise.all([storage.migrate(), storage.migrate(), storage.migrate()])
      await storage.insert('flag', sample('flag'))
    })

    it('`close` waits for running transactions, and later calls fail with UNAVAILABLE', async () => {
      const storage = await open()
      await storage.migrate()
      const running = storage.transaction('lock', async (tx) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        await tx.insert('flag', sample('flag'))
        return (await tx.list('flag', {})).total
      })
      await storage.close()
      expect(await running).toBe(1)
      await expectRefusal(storage.find('flag', newId()), 'UNAVAILABLE')
      await expectRefusal(storage.insert('flag', sample('flag')), 'UNAVAILABLE')
      await expectRefusal(storage.migrate(), 'UNAVAILABLE')
      await storage.close()
    })

    it('A store that has not been used can be closed', async () => {
      const storage = await open()
      await storage.close()
      await expectRefusal(storage.find('flag', newId()), 'UNAVAILABLE')
    })
  })
}
