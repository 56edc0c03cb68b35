import { describe, expect, it } from 'vitest'
import type { Records } from '../../ports/records.ts'
import type { Storage } from '../../ports/storage.ts'
import { newContextSample, seenAt, timeAt } from '../samples/context-samples.ts'
import { expectRefusal, type OpenStorage } from '../samples/fixtures.ts'
import { newId } from '../samples/sample-fields.ts'
import { describeLoadedContexts } from './loaded-contexts.ts'

/** Tests `recordContextSamples` and `loadContexts`. */
export function describeContextSamples(open: OpenStorage): void {
  describe('context samples', () => {
    describeNewContexts(open)
    describeTexts(open)
    describeKnownContexts(open)
    describeRemovedContexts(open)
    describeLoadedContexts(open)
  })
}

function describeNewContexts(open: OpenStorage): void {
  it('The first sample of a context adds a record with the id of the sample', async () => {
    const storage = await open()
    const contextSample = newContextSample({ kind: '', key: '', contextJson: {} })
    await storage.recordContextSamples([contextSample])
    const found = await storage.find('observedContext', contextSample.id)
    expect(found).toEqual({ ...contextSample, deletedAt: null })
  })

  it('Text and JSON in a context sample are stored exactly', async () => {
    const storage = await open()
    const contextJson = JSON.parse(
      `{"__proto__":{"a":1},"constructor":[],"":null,"n":-1.5e-7,"z":"\\u0001'\\"😀","t":true}`,
    )
    const contextSample = newContextSample({
      contextJson,
      key: 'long 😀'.repeat(1000),
    })
    await storage.recordContextSamples([contextSample])
    await storage.recordContextSamples([contextSample])
    const found = await storage.find('observedContext', contextSample.id)
    expect(JSON.stringify(found?.contextJson)).toBe(JSON.stringify(contextJson))
    expect(found?.key).toBe(contextSample.key)
    expect(found?.evaluationSuccess).toBe(contextSample.evaluationSuccess)
  })

  it('Samples with different hashes or environments belong to different contexts', async () => {
    const storage = await open()
    const contextSample = newContextSample()
    const others = [
      { ...contextSample, id: newId(), hash: newId() },
      { ...contextSample, id: newId(), environmentId: newId() },
    ]
    await storage.recordContextSamples([contextSample, ...others])
    expect((await storage.list('observedContext', {})).total).toBe(3)
    for (const { id, seenCount } of [contextSample, ...others]) {
      expect((await storage.find('observedContext', id))?.seenCount).toBe(seenCount)
    }
  })

  it('One call can record an empty list or thousands of context samples', async () => {
    const storage = await open()
    await storage.recordContextSamples([])
    const contextSamples = Array.from({ length: 3000 }, () => newContextSample())
    await storage.recordContextSamples(contextSamples)
    expect((await storage.list('observedContext', { limit: 1 })).total).toBe(3000)
  })

  it('Recording a new context with an existing id fails with CONFLICT and records no sample of the call', async () => {
    const storage = await open()
    const [known, fresh] = [newContextSample(), newContextSample()]
    await storage.recordContextSamples([known])
    await storage.transaction('lock', async (tx) => {
      const again = { ...known, id: newId() }
      const taken = newContextSample({ id: known.id })
      await expectRefusal(tx.recordContextSamples([fresh, again, taken]), 'CONFLICT')
      const twins = [newContextSample({ id: fresh.id }), newContextSample({ id: fresh.id })]
      await expectRefusal(tx.recordContextSamples(twins), 'CONFLICT')
    })
    const { data } = await storage.list('observedContext', {})
    expect(data).toEqual([{ ...known, deletedAt: null }])
  })
}

function describeTexts(open: OpenStorage): void {
  it('U+FFFD replaces U+0000 and unpaired surrogates in a context sample', async () => {
    const storage = await open()
    const other = newContextSample()
    const contextSample = newContextSample({
      kind: 'us\0er',
      key: '\0a\ud800b\udc00 \udc00\ud800 😀',
      contextJson: JSON.parse('{"n\\u0000":["\\ud83d",{"__proto__":"\\u0000"}],"😀":"\\udc00"}'),
    })
    const expected = {
      ...contextSample,
      kind: 'us\uFFFDer',
      key: '\uFFFDa\uFFFDb\uFFFD \uFFFD\uFFFD 😀',
      contextJson: JSON.parse('{"n\uFFFD":["\uFFFD",{"__proto__":"\uFFFD"}],"😀":"\uFFFD"}'),
      deletedAt: null,
    }
    await storage.recordContextSamples([contextSample, other])
    expect(await storage.find('observedContext', contextSample.id)).toEqual(expected)
    expect(await storage.find('observedContext', other.id)).toEqual({ ...other, deletedAt: null })
    await storage.recordContextSamples([contextSample, other])
    const seenCount = 2 * contextSample.seenCount
    const found = await storage.find('observedContext', contextSample.id)
    expect(found).toEqual({ ...expected, seenCount })
    expect(JSON.stringify(found?.contextJson)).toBe(JSON.stringify(expected.contextJson))
  })

  it('Samples belong to one context if their hashes are equal after U+FFFD has replaced characters', async () => {
    const storage = await open()
    const first = newContextSample({ hash: 'a\0', environmentId: 'e\ud800' })
    const second = { ...first, id: newId(), hash: 'a\uFFFD', environmentId: 'e\uFFFD' }
    await storage.recordContextSamples([first, second])
    await storage.recordContextSamples([first])
    expect((await theOnly(storage)).seenCount).toBe(3 * first.seenCount)
  })

  it('An observed context can be listed and purged by its original key, even with U+0000', async () => {
    const storage = await open()
    const key = 'a\0b\ud800'
    const contextSample = newContextSample({ key })
    const { environmentId } = contextSample
    await storage.recordContextSamples([
      contextSample,
      newContextSample({ environmentId, key: 'ab' }),
    ])
    const where = { environmentId, key }
    const { data } = await storage.list('observedContext', { where })
    expect(data.map(({ id }) => id)).toEqual([contextSample.id])
    const purged = await storage.transaction('lock', (tx) => tx.purge('observedContext', { where }))
    expect(purged).toBe(1)
    expect((await theOnly(storage)).key).toBe('ab')
  })

  it('Recording a number that is not finite fails with INVALID_REQUEST and records no sample of the call', async () => {
    const storage = await open()
    const [good, bad] = [newContextSample(), newContextSample({ seenCount: Number.NaN })]
    await expectRefusal(storage.recordContextSamples([good, bad]), 'INVALID_REQUEST')
    await storage.transaction('lock', async (tx) => {
      await expectRefusal(tx.recordContextSamples([newContextSample(), bad]), 'INVALID_REQUEST')
      await tx.recordContextSamples([good])
    })
    expect(await theOnly(storage)).toEqual({ ...good, deletedAt: null })
  })
}

function describeKnownContexts(open: OpenStorage): void {
  it('Another sample of a context increases its count and keeps its id', async () => {
    const storage = await open()
    const first = newContextSample({ seenCount: 2 })
    await storage.recordContextSamples([first])
    await storage.recordContextSamples([{ ...first, id: newId(), seenCount: 5 }])
    await storage.recordContextSamples([{ ...first, seenCount: 1 }])
    expect(await theOnly(storage)).toEqual({ ...first, seenCount: 8, deletedAt: null })
  })

  it('A context has the fields of its latest sample, regardless of the order of recording', async () => {
    const orders = [
      [1, 2, 3],
      [3, 2, 1],
      [2, 3, 1],
    ]
    for (const minutes of orders) {
      const storage = await open()
      const context = newContextSample()
      const contextSamples = minutes.map((minute) => seenAt(context, minute))
      for (const contextSample of contextSamples)
        await storage.recordContextSamples([contextSample])
      expect(await theOnly(storage)).toEqual({
        ...seenAt(context, 3),
        id: contextSamples[0]?.id,
        firstSeen: timeAt(1),
        seenCount: 3,
        deletedAt: null,
      })
    }
  })

  it('A context has the fields of the last recorded sample if several samples have the same time', async () => {
    const storage = await open()
    const context = newContextSample()
    await storage.recordContextSamples([seenAt(context, 1)])
    await storage.recordContextSamples([{ ...seenAt(context, 1), evaluationSuccess: true }])
    expect((await theOnly(storage))?.evaluationSuccess).toBe(true)
    await storage.recordContextSamples([{ ...seenAt(context, 1), evaluationSuccess: false }])
    expect((await theOnly(storage))?.evaluationSuccess).toBe(false)
  })

  it('Several samples of one context within one call are merged', async () => {
    const storage = await open()
    const context = newContextSample()
    const contextSamples = [2, 3, 1].map((minute) => seenAt(context, minute))
    const expected = { ...seenAt(context, 3), id: contextSamples[0]?.id, firstSeen: timeAt(1) }
    await storage.recordContextSamples(contextSamples)
    expect(await theOnly(storage)).toEqual({ ...expected, seenCount: 3, deletedAt: null })
    await storage.recordContextSamples(contextSamples)
    expect(await theOnly(storage)).toEqual({ ...expected, seenCount: 6, deletedAt: null })
  })

  it('Concurrent samples of one context are all counted in one record', async () => {
    const storage = await open()
    const context = newContextSample()
    const contextSamples = Array.from({ length: 30 }, (_, index) => seenAt(context, index % 10))
    await Promise.all(
      contextSamples.map((contextSample) => storage.recordContextSamples([contextSample])),
    )
    const { seenCount, firstSeen, lastSeen } = await theOnly(storage)
    expect([seenCount, firstSeen, lastSeen]).toEqual([30, timeAt(0), timeAt(9)])
  })

  it('A context sample in a failed transaction is not recorded', async () => {
    const storage = await open()
    const context = newContextSample({ seenCount: 1 })
    await storage.recordContextSamples([context])
    const failing = storage.transaction('lock', async (tx) => {
      await tx.recordContextSamples([context, newContextSample()])
      expect((await tx.list('observedContext', {})).total).toBe(2)
      expect((await tx.find('observedContext', context.id))?.seenCount).toBe(2)
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await theOnly(storage)).toEqual({ ...context, deletedAt: null })
  })
}

function describeRemovedContexts(open: OpenStorage): void {
  it('A sample of a deleted context adds a new record and does not change the deleted record', async () => {
    const storage = await open()
    const context = newContextSample({ seenCount: 4 })
    await storage.recordContextSamples([context])
    await storage.update('observedContext', context.id, { deletedAt: timeAt(5) })
    const again = { ...context, id: newId(), seenCount: 1 }
    await storage.recordContextSamples([again])
    expect(await theOnly(storage)).toEqual({ ...again, deletedAt: null })
    await expectRefusal(storage.revive('observedContext', context.id), 'CONFLICT')
  })

  it('A sample of a purged context adds a new record with its own count', async () => {
    const storage = await open()
    const context = newContextSample({ seenCount: 4 })
    await storage.recordContextSamples([context])
    await storage.purge('observedContext', { where: { key: context.key } })
    expect((await storage.list('observedContext', {})).total).toBe(0)
    await storage.recordContextSamples([{ ...context, seenCount: 1 }])
    expect(await theOnly(storage)).toEqual({ ...context, seenCount: 1, deletedAt: null })
  })
}

async function theOnly(storage: Storage): Promise<Records['observedContext']> {
  const { data } = await storage.list('observedContext', {})
  const [context] = data
  if (context === undefined || data.length > 1) {
    throw new Error(`expected one observed context (got ${data.length})`)
  }
  return context
}
