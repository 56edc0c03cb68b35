import type { EvaluationCount } from '@ff/storage'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { createFlagServer } from '../../src/flag-server.ts'
import { evaluate } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock, settle } from '../fake-clock.ts'
import {
  addEnvironment,
  flagChange,
  publish,
  rampFlag,
  type SeededEnvironment,
  seed,
  textFlag,
} from '../seed.ts'

const ENVIRONMENTS = 5
const MEGABYTE = 1024 * 1024
/** The length of a value with which two environments fit in 1 MiB, and three do not. */
const LENGTH = 190_000

const place = { environment: fc.nat(ENVIRONMENTS - 1) }
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant('evaluate' as const), ...place, user: fc.nat(3) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('change' as const), ...place }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat(600_000) }) },
)

/** A server on a shared store, with the counts that it has written. */
async function open(memory: ReturnType<typeof allInMemory>, clock: FakeClock, limit?: number) {
  const counted = new Map<string, number>()
  const addEvaluationCounts = async (counts: readonly EvaluationCount[]) => {
    for (const { environmentId, flagId, variationId, reason, count } of counts) {
      const name = `${environmentId} ${flagId} ${variationId} ${reason}`
      counted.set(name, (counted.get(name) ?? 0) + count)
    }
  }
  const storage = { ...memory.storage, addEvaluationCounts, close: async () => undefined }
  const maxFlagSetBytes = limit ?? Number.MAX_SAFE_INTEGER
  const flags = createFlagServer({ ...memory, storage, clock, maxFlagSetBytes })
  await flags.start()
  return { flags, counted: () => Object.fromEntries([...counted].sort()) }
}

async function fill(memory: ReturnType<typeof allInMemory>): Promise<SeededEnvironment[]> {
  const { live } = await seed(memory.storage)
  const environments = [live]
  while (environments.length < ENVIRONMENTS) {
    const key = `environment-${environments.length}`
    environments.push(await addEnvironment(memory.storage, live.projectId, key))
  }
  for (const { environmentId } of environments) {
    const ramp = rampFlag('ramp', '2030-01-01T00:00:00.000Z', 10)
    const long = { id: 'long', key: 'long', value: 'x'.repeat(LENGTH) }
    const large = { ...textFlag('large', 'a'), variations: [long], defaultVariationId: 'long' }
    await publish(memory, environmentId, flagChange(ramp), flagChange(large))
  }
  return environments
}

it('Whatever is dropped and loaded again, responses and counts equal those of a server without a limit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 40 }), async (happenings) => {
      const memory = allInMemory()
      const clock = new FakeClock()
      const environments = await fill(memory)
      const limited = await open(memory, clock, MEGABYTE)
      const unlimited = await open(memory, clock)
      const tags = new Map<string, string>()
      let changes = 0
      for (const each of happenings) {
        if (each.type === 'wait') await clock.advance(each.ms)
        else if (each.type === 'change') {
          changes += 1
          const { environmentId } = environments[each.environment] as SeededEnvironment
          await publish(memory, environmentId, flagChange(textFlag('banner', `${changes}`)))
          await settle()
        } else {
          const { sdkKey } = environments[each.environment] as SeededEnvironment
          const name = `${each.environment} ${each.user}`
          const context = { kind: 'user', key: `user-${each.user}` }
          const tag = tags.get(name)
          const headers = tag === undefined ? {} : { 'if-none-match': tag }
          const mine = await evaluate(limited.flags, sdkKey, context, headers)
          const theirs = await evaluate(unlimited.flags, sdkKey, context, headers)
          expect(mine.status).toBe(theirs.status)
          expect(mine.body).toEqual(theirs.body)
          for (const header of ['etag', 'x-ff-version']) {
            expect(mine.headers.get(header)).toBe(theirs.headers.get(header))
          }
          tags.set(name, mine.headers.get('etag') ?? '')
        }
      }
      await limited.flags.close()
      await unlimited.flags.close()
      expect(limited.counted()).toEqual(unlimited.counted())
    }),
    { numRuns: runs(100) },
  )
})
