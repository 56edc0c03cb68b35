import { describe, expect, it } from 'vitest'
import type { OpenStorage } from '../samples/fixtures.ts'
import { newId } from '../samples/sample-fields.ts'
import { sample } from '../samples/samples.ts'

const [EARLIER, AT, LATER] = [
  '2026-05-01T00:00:00.000Z',
  '2026-05-01T00:15:00.000Z',
  '2026-05-01T00:30:00.000Z',
]

/** Tests the times of the last evaluations of flags. */
export function describeLastEvaluations(open: OpenStorage): void {
  describe('last evaluations', () => {
    it('Marking flags as evaluated sets both times of each, and changes nothing else', async () => {
      const storage = await open()
      const never = sample('flag', { lastEvaluatedAt: null })
      const before = sample('flag', { lastEvaluatedAt: EARLIER })
      const other = sample('flag', { lastEvaluatedAt: EARLIER })
      for (const flag of [never, before, other]) await storage.insert('flag', flag)
      expect(await storage.markEvaluated([never.id, before.id, never.id, newId()], AT)).toEqual([])
      for (const flag of [never, before]) {
        const marked = { ...flag, lastEvaluatedAt: AT, unusedSince: AT }
        expect(await storage.find('flag', flag.id)).toEqual(marked)
      }
      expect(await storage.find('flag', other.id)).toEqual(other)
    })

    it('Marking a flag as evaluated keeps a later time, and a deleted flag', async () => {
      const storage = await open()
      const later = sample('flag', { lastEvaluatedAt: LATER })
      const deleted = sample('flag', { deletedAt: AT, lastEvaluatedAt: null })
      for (const flag of [later, deleted]) await storage.insert('flag', flag)
      await storage.markEvaluated([later.id, deleted.id], AT)
      expect(await storage.find('flag', later.id)).toEqual(later)
      expect(await storage.findDeleted('flag', deleted.id)).toEqual(deleted)
    })

    it('A transaction sees the flags that it has marked as evaluated, and can be rolled back', async () => {
      const storage = await open()
      const flag = sample('flag', { lastEvaluatedAt: null })
      await storage.insert('flag', flag)
      const failing = storage.transaction('lock', async (tx) => {
        await tx.markEvaluated([flag.id], AT)
        expect((await tx.find('flag', flag.id))?.lastEvaluatedAt).toBe(AT)
        throw new Error('rolled back')
      })
      await expect(failing).rejects.toThrow('rolled back')
      expect(await storage.find('flag', flag.id)).toEqual(flag)
    })

    it('Thousands of flags can be marked as evaluated in one call', async () => {
      const storage = await open()
      const flag = sample('flag', { lastEvaluatedAt: null })
      await storage.insert('flag', flag)
      await storage.markEvaluated([...Array.from({ length: 2500 }, newId), flag.id], AT)
      await storage.markEvaluated([], LATER)
      expect((await storage.find('flag', flag.id))?.lastEvaluatedAt).toBe(AT)
    })
  })
}
