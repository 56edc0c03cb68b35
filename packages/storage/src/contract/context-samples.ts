import { describe, expect, it } from 'vitest'
import type { Records } from '../ports/records.ts'
import type { ContextSighting, Storage } from '../ports/storage.ts'
import { expectRefusal, newId, type OpenStorage, sample } from './fixtures.ts'

const AT = (minute: number) => `2026-03-01T10:0${minute}:00.000Z`

/** Which contexts were seen. */
export function describeSightings(open: OpenStorage): void {
  describe('sightings', () => {
    describeNewContexts(open)
    describeTexts(open)
    describeKnownContexts(open)
    describeForgottenContexts(open)
  })
}

function describeNewContexts(open: OpenStorage): void {
  it('a context that is seen for the first time is found by the id of its sighting', async () => {
    const storage = await open()
    const sighting = newSighting({ kind: '', key: '', contextJson: {} })
    await storage.recordSightings([sighting])
    const found = await storage.find('observedContext', sighting.id)
    expect(found).toEqual({ ...sighting, deletedAt: null })
  })

  it('what was seen is kept exactly', async () => {
    const storage = await open()
    const contextJson = JSON.parse(
      `{"__proto__":{"a":1},"constructor":[],"":null,"n":-1.5e-7,"z":"\\u0001'\\"😀","t":true}`,
    )
    const variationResults = JSON.stringify({ 'naïve.ключ': `'"\\;--%😀` })
    const sighting = newSighting({ contextJson, variationResults, key: 'long 😀'.repeat(1000) })
    await storage.recordSightings([sighting])
    await storage.recordSightings([sighting])
    const found = await storage.find('observedContext', sighting.id)
    expect(JSON.stringify(found?.contextJson)).toBe(JSON.stringify(contextJson))
    expect([found?.variationResults, found?.key]).toEqual([variationResults, sighting.key])
    expect(found?.evaluationSuccess).toBe(sighting.evaluationSuccess)
  })

  it('contexts of different hashes and environments are different', async () => {
    const storage = await open()
    const sighting = newSighting()
    const others = [
      { ...sighting, id: newId(), hash: newId() },
      { ...sighting, id: newId(), environmentId: newId() },
    ]
    await storage.recordSightings([sighting, ...others])
    expect((await storage.list('observedContext', {})).total).toBe(3)
    for (const { id, seenCount } of [sighting, ...others]) {
      expect((await storage.find('observedContext', id))?.seenCount).toBe(seenCount)
    }
  })

  it('nothing may be seen, and as much as is given', async () => {
    const storage = await open()
    await storage.recordSightings([])
    const sightings = Array.from({ length: 3000 }, () => newSighting())
    await storage.recordSightings(sightings)
    expect((await storage.list('observedContext', { limit: 1 })).total).toBe(3000)
  })

  it('a new context with an id that is taken is CONFLICT, and nothing of the call is kept', async () => {
    const storage = await open()
    const [known, fresh] = [newSighting(), newSighting()]
    await storage.recordSightings([known])
    await storage.transaction('lock', async (tx) => {
      const again = { ...known, id: newId() }
      const taken = newSighting({ id: known.id })
      await expectRefusal(tx.recordSightings([fresh, again, taken]), 'CONFLICT')
      const twins = [newSighting({ id: fresh.id }), newSighting({ id: fresh.id })]
      await expectRefusal(tx.recordSightings(twins), 'CONFLICT')
    })
    const { data } = await storage.list('observedContext', {})
    expect(data).toEqual([{ ...known, deletedAt: null }])
  })
}

function describeTexts(open: OpenStorage): void {
  it('U+0000 and unpaired surrogates in a context sample are kept as U+FFFD', async () => {
    const storage = await open()
    const other = newSighting()
    const sighting = newSighting({
      kind: 'us\0er',
      key: '\0a\ud800b\udc00 \udc00\ud800 😀',
      contextJson: JSON.parse('{"n\\u0000":["\\ud83d",{"__proto__":"\\u0000"}],"😀":"\\udc00"}'),
      variationResults: '{"a":"\0"}',
    })
    const expected = {
      ...sighting,
      kind: 'us\uFFFDer',
      key: '\uFFFDa\uFFFDb\uFFFD \uFFFD\uFFFD 😀',
      variationResults: '{"a":"\uFFFD"}',
      contextJson: JSON.parse('{"n\uFFFD":["\uFFFD",{"__proto__":"\uFFFD"}],"😀":"\uFFFD"}'),
      deletedAt: null,
    }
    await storage.recordSightings([sighting, other])
    expect(await storage.find('observedContext', sighting.id)).toEqual(expected)
    expect(await storage.find('observedContext', other.id)).toEqual({ ...other, deletedAt: null })
    await storage.recordSightings([sighting, other])
    const seenCount = 2 * sighting.seenCount
    const found = await storage.find('observedContext', sighting.id)
    expect(found).toEqual({ ...expected, seenCount })
    expect(JSON.stringify(found?.contextJson)).toBe(JSON.stringify(expected.contextJson))
  })

  it('samples whose hashes are the same text once they are kept are of one context', async () => {
    const storage = await open()
    const first = newSighting({ hash: 'a\0', environmentId: 'e\ud800' })
    const second = { ...first, id: newId(), hash: 'a\uFFFD', environmentId: 'e\uFFFD' }
    await storage.recordSightings([first, second])
    await storage.recordSightings([first])
    expect((await theOnly(storage)).seenCount).toBe(3 * first.seenCount)
  })

  it('a context sample is listed and purged by the key it was seen with, U+0000 included', async () => {
    const storage = await open()
    const key = 'a\0b\ud800'
    const sighting = newSighting({ key })
    const { environmentId } = sighting
    await storage.recordSightings([sighting, newSighting({ environmentId, key: 'ab' })])
    const where = { environmentId, key }
    const { data } = await storage.list('observedContext', { where })
    expect(data.map(({ id }) => id)).toEqual([sighting.id])
    const purged = await storage.transaction('lock', (tx) => tx.purge('observedContext', { where }))
    expect(purged).toBe(1)
    expect((await theOnly(storage)).key).toBe('ab')
  })

  it('a context sample with a number that is not finite is INVALID_REQUEST, and nothing of the call is kept', async () => {
    const storage = await open()
    const [good, bad] = [newSighting(), newSighting({ seenCount: Number.NaN })]
    await expectRefusal(storage.recordSightings([good, bad]), 'INVALID_REQUEST')
    await storage.transaction('lock', async (tx) => {
      await expectRefusal(tx.recordSightings([newSighting(), bad]), 'INVALID_REQUEST')
      await tx.recordSightings([good])
    })
    expect(await theOnly(storage)).toEqual({ ...good, deletedAt: null })
  })
}

function describeKnownContexts(open: OpenStorage): void {
  it('a context that is seen again keeps its id and is counted on', async () => {
    const storage = await open()
    const first = newSighting({ seenCount: 2 })
    await storage.recordSightings([first])
    await storage.recordSightings([{ ...first, id: newId(), seenCount: 5 }])
    await storage.recordSightings([{ ...first, seenCount: 1 }])
    expect(await theOnly(storage)).toEqual({ ...first, seenCount: 8, deletedAt: null })
  })

  it('what was seen last is kept, in whatever order it was told', async () => {
    const tellings = [
      [1, 2, 3],
      [3, 2, 1],
      [2, 3, 1],
    ]
    for (const minutes of tellings) {
      const storage = await open()
      const context = newSighting()
      const sightings = minutes.map((minute) => seenAt(context, minute))
      for (const sighting of sightings) await storage.recordSightings([sighting])
      expect(await theOnly(storage)).toEqual({
        ...seenAt(context, 3),
        id: sightings[0]?.id,
        firstSeen: AT(1),
        seenCount: 3,
        deletedAt: null,
      })
    }
  })

  it('of what was seen at the same time the one told later is kept', async () => {
    const storage = await open()
    const context = newSighting()
    await storage.recordSightings([seenAt(context, 1)])
    await storage.recordSightings([{ ...seenAt(context, 1), evaluationSuccess: true }])
    expect((await theOnly(storage))?.evaluationSuccess).toBe(true)
    await storage.recordSightings([{ ...seenAt(context, 1), evaluationSuccess: false }])
    expect((await theOnly(storage))?.evaluationSuccess).toBe(false)
  })

  it('one call may see the same context several times', async () => {
    const storage = await open()
    const context = newSighting()
    const sightings = [2, 3, 1].map((minute) => seenAt(context, minute))
    const expected = { ...seenAt(context, 3), id: sightings[0]?.id, firstSeen: AT(1) }
    await storage.recordSightings(sightings)
    expect(await theOnly(storage)).toEqual({ ...expected, seenCount: 3, deletedAt: null })
    await storage.recordSightings(sightings)
    expect(await theOnly(storage)).toEqual({ ...expected, seenCount: 6, deletedAt: null })
  })

  it('of sightings at the same time none is lost, and a context is there once', async () => {
    const storage = await open()
    const context = newSighting()
    const sightings = Array.from({ length: 30 }, (_, index) => seenAt(context, index % 10))
    await Promise.all(sightings.map((sighting) => storage.recordSightings([sighting])))
    const { seenCount, firstSeen, lastSeen } = await theOnly(storage)
    expect([seenCount, firstSeen, lastSeen]).toEqual([30, AT(0), AT(9)])
  })

  it('a sighting in a transaction that fails was none', async () => {
    const storage = await open()
    const context = newSighting({ seenCount: 1 })
    await storage.recordSightings([context])
    const failing = storage.transaction('lock', async (tx) => {
      await tx.recordSightings([context, newSighting()])
      expect((await tx.list('observedContext', {})).total).toBe(2)
      expect((await tx.find('observedContext', context.id))?.seenCount).toBe(2)
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await theOnly(storage)).toEqual({ ...context, deletedAt: null })
  })
}

function describeForgottenContexts(open: OpenStorage): void {
  it('a context that was deleted is seen anew, beside what it was', async () => {
    const storage = await open()
    const context = newSighting({ seenCount: 4 })
    await storage.recordSightings([context])
    await storage.update('observedContext', context.id, { deletedAt: AT(5) })
    const again = { ...context, id: newId(), seenCount: 1 }
    await storage.recordSightings([again])
    expect(await theOnly(storage)).toEqual({ ...again, deletedAt: null })
    await expectRefusal(storage.revive('observedContext', context.id), 'CONFLICT')
  })

  it('a context that was purged is seen anew, and counted from the beginning', async () => {
    const storage = await open()
    const context = newSighting({ seenCount: 4 })
    await storage.recordSightings([context])
    await storage.purge('observedContext', { where: { key: context.key } })
    expect((await storage.list('observedContext', {})).total).toBe(0)
    await storage.recordSightings([{ ...context, seenCount: 1 }])
    expect(await theOnly(storage)).toEqual({ ...context, seenCount: 1, deletedAt: null })
  })
}

function newSighting(fields: Partial<ContextSighting> = {}): ContextSighting {
  const { deletedAt: _, ...sighting } = sample('observedContext', fields)
  return sighting
}

/** The context as it was seen once, in a minute that shows in all that may change. */
function seenAt(context: ContextSighting, minute: number): ContextSighting {
  return {
    ...context,
    id: newId(),
    firstSeen: AT(minute),
    lastSeen: AT(minute),
    seenCount: 1,
    contextJson: { minute },
    kind: `kind ${minute}`,
    key: `key ${minute}`,
    orgId: `organization ${minute}`,
    evaluationSuccess: minute % 2 === 0,
    variationResults: JSON.stringify({ minute }),
    source: minute === 3 ? 'ws' : 'rest',
  }
}

async function theOnly(storage: Storage): Promise<Records['observedContext']> {
  const { data } = await storage.list('observedContext', {})
  const [context] = data
  if (context === undefined || data.length > 1) throw new Error(`there are ${data.length}`)
  return context
}
