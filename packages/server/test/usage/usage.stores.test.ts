import { describe, expect, it } from 'vitest'
import { stores } from '../../../management/test/world/stores.ts'
import { createFlagServer } from '../../src/flag-server.ts'
import { countUniqueUsers } from '../../src/usage/unique-users.ts'
import { evaluate } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock } from '../fake-clock.ts'
import { flagChange, publish, seed, textFlag } from '../seed.ts'
import { apiUsage, contextsIn, countsOf, FOREVER, pro, shared, TITLE } from './usage-scene.ts'

describe.each(stores)('Usage in %s', (_name, open) => {
  it('All usage that several servers record at the same time is stored', async () => {
    const { storage, clean } = open()
    const { live, orgId } = await seed(storage)
    const store = { ...allInMemory(), storage }
    await publish(store, live.environmentId, flagChange(textFlag('title', 'shop')))
    const servers = [1, 2].map(() => {
      return createFlagServer({ ...store, storage: shared(storage), clock: new FakeClock() })
    })
    for (const [index, flags] of servers.entries()) {
      await evaluate(flags, live.sdkKey, pro)
      await evaluate(flags, live.sdkKey, { ...pro, key: `other-${index}` })
      await flags.detailOrThrow(live, 'title', pro)
    }
    await Promise.all(servers.map((flags) => flags.close()))
    const scene = { memory: store, live, orgId }
    const counted = { 'rest STATIC title-shop': 4, 'sdk STATIC title-shop': 2 }
    expect(await countsOf(scene, TITLE)).toEqual(counted)
    expect(await apiUsage(scene)).toBe(6)
    const seen = (await contextsIn(storage)).map(({ key, seenCount }) => `${key} ${seenCount}`)
    expect(seen).toEqual(['other-0 1', 'other-1 1', 'user-1 4'])
    const query = { environmentId: live.environmentId, flagId: TITLE, ...FOREVER }
    expect(await countUniqueUsers(storage, query)).toBe(3)
    await storage.close()
    clean()
  })
})
