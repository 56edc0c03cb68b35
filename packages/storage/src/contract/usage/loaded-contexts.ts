import { expect, it } from 'vitest'
import { newContextSample, seenAt, timeAt } from '../samples/context-samples.ts'
import type { OpenStorage } from '../samples/fixtures.ts'
import { newId } from '../samples/sample-fields.ts'

/** Tests `loadContexts`. */
export function describeLoadedContexts(open: OpenStorage): void {
  it('Contexts of an environment are loaded in pages by their hashes, without those not seen since a time', async () => {
    const storage = await open()
    const environmentId = newId()
    const hashes = ['d', 'b', 'e', 'a', 'c'].map((letter) => letter.repeat(32))
    const seen = hashes.map((hash, minute) =>
      newContextSample({ environmentId, hash, lastSeen: timeAt(minute) }),
    )
    await storage.recordContextSamples([...seen, newContextSample({ lastSeen: timeAt(4) })])
    const pageAfter = async (after?: string) => {
      const query = { environmentId, seenFrom: timeAt(1), limit: 2, ...(after && { after }) }
      const { data, total } = await storage.loadContexts(query)
      return [data.map(({ hash }) => hash[0]).join(''), total]
    }
    expect(await pageAfter()).toEqual(['ab', 4])
    expect(await pageAfter(hashes[1])).toEqual(['ce', 4])
    expect(await pageAfter(hashes[2])).toEqual(['', 4])
    const query = { environmentId, seenFrom: timeAt(3), limit: 9, isCounted: false }
    expect((await storage.loadContexts(query)).total).toBe(2)
  })

  it('A loaded context has the attributes of its latest sample and the rules that reduced it', async () => {
    const storage = await open()
    const contextJson = JSON.parse(
      '{"kind":"user","__proto__":{"a":1},"n":-1.5e-7,"z":"\\u0001😀"}',
    )
    const seenFirst = { firstSeen: timeAt(1), lastSeen: timeAt(1) }
    const first = newContextSample({ ...seenFirst, contextJson, reducedBy: 3 })
    const { hash, kind, key, environmentId } = first
    const later = { ...seenAt(first, 5), contextJson, kind, key, reducedBy: null }
    await storage.recordContextSamples([first])
    await storage.recordContextSamples([later])
    const query = { environmentId, seenFrom: timeAt(0), limit: 5 }
    const [loaded] = (await storage.loadContexts(query)).data
    expect(JSON.stringify(JSON.parse(loaded?.contextText ?? ''))).toBe(JSON.stringify(contextJson))
    expect({ ...loaded, contextText: '' }).toEqual({
      ...{ hash, kind, key, contextText: '', lastSeen: timeAt(5) },
      ...{ seenCount: first.seenCount + 1, reducedBy: null, settingsRevision: 6 },
    })
  })
}
