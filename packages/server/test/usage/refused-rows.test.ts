import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileFlagSet, type EvaluationContext } from '@ff/core'
import { sqlite } from '@ff/storage/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tamper } from '../../../management/test/world/intruder.ts'
import { evaluateTimed } from '../../src/evaluation/evaluated.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { UsageRecorder } from '../../src/usage/usage-recorder.ts'
import { allInMemory } from '../capabilities.ts'
import { FakeClock } from '../fake-clock.ts'
import { OCCASION, seed, textFlag } from '../seed.ts'
import { apiUsage, contextsIn, countsOf, pro } from './usage-scene.ts'

const KEYS = [
  'banner',
  'title',
  ...Array.from({ length: 30 }, (_, index) => `more-${index}`),
].sort()
const flagSet = compileFlagSet({
  version: 1,
  flags: KEYS.map((key) => textFlag(key, 'x')),
  segments: [],
})

/** A condition for rows that the database refuses, in addition to the constraints of the schema. */
interface Constraint {
  readonly table: string
  readonly refuses: string
  readonly event?: 'insert' | 'update'
}

/** Creates a recorder with a database file that has this constraint. */
async function openScene({ table, refuses, event = 'insert' }: Constraint) {
  const path = join(mkdtempSync(join(tmpdir(), 'ff-refused-')), 'flags.db')
  const { storage } = sqlite({ path })
  onTestFinished(async () => {
    await storage.close()
    rmSync(join(path, '..'), { recursive: true })
  })
  const { live, orgId } = await seed(storage)
  for (const key of KEYS) await storage.insert('flag', flagRecord(key, live.projectId))
  const trigger = `create trigger refusal before ${event} on ${table} when ${refuses}
    begin select raise(abort, 'CHECK constraint failed: ${table}'); end`
  tamper(path, (database) => database.exec(trigger))
  const clock = new FakeClock()
  const logged: string[] = []
  const logger = { ...silentLogger, error: (message: string) => void logged.push(message) }
  const settings = { privacy: 'all', keptAttributes: [], settingsRevision: 1 } as const
  const samplingOf = () => ({ ...settings, flagSet })
  const cache = { samplingOf, listenToDrops: () => undefined }
  const metrics = { observeEvaluation: () => undefined }
  const usage = new UsageRecorder({ storage, cache, metrics, clock, logger })
  const scope = { environmentId: live.environmentId, kind: 'server' } as const
  const evaluate = (context: EvaluationContext) => {
    usage.requested(scope)
    usage.evaluated(scope, 'rest', evaluateTimed({ flagSet, context, now: clock.now() }))
  }
  return {
    storage,
    memory: { ...allInMemory(), storage },
    live,
    orgId,
    clock,
    usage,
    logged,
    evaluate,
  }
}

function flagRecord(key: string, projectId: string) {
  const at = OCCASION.publishedAt
  return {
    ...{ id: `flag-${key}`, projectId, key, name: key, description: '', tags: [] },
    ...{ type: 'string' as const, clientVisible: true, archivedAt: null, lastEvaluatedAt: null },
    ...{ createdAt: at, updatedAt: at, deletedAt: null, revision: 1 },
    ...{ summary: null, marks: [], unusedSince: at },
  }
}

type OpenedScene = Awaited<ReturnType<typeof openScene>>

/** Returns the keys of the flags with a recorded evaluation time. */
async function markedFlags({ storage }: OpenedScene): Promise<readonly string[]> {
  const { data } = await storage.list('flag', { sort: { field: 'key', direction: 'asc' } })
  return data.flatMap(({ key, lastEvaluatedAt }) => (lastEvaluatedAt === null ? [] : [key]))
}

const NOTHING = { evaluations: 0, contexts: 0, requests: 0, flags: 0, users: 0 }

describe('Usage that the store refuses because of its data', () => {
  it('A refused evaluation count is dropped and counted, and the other counts are written', async () => {
    const table = 'ff_evaluation_count'
    const scene = await openScene({ table, refuses: `new.flag_id = 'flag-more-7'` })
    for (let time = 0; time < 3; time += 1) scene.evaluate(pro)
    await scene.usage.flush()
    expect(scene.usage.stats).toEqual({ dropped: { ...NOTHING, evaluations: 3 }, pending: 0 })
    for (const key of KEYS) {
      const expected = key === 'more-7' ? {} : { [`rest STATIC ${key}-x`]: 3 }
      expect(await countsOf(scene, `flag-${key}`)).toEqual(expected)
    }
  })

  it('A refused context sample is dropped and counted, and the other samples are written', async () => {
    const scene = await openScene({ table: 'ff_observed_context', refuses: `new.key = 'bad'` })
    const keys = Array.from({ length: 30 }, (_, index) => (index === 11 ? 'bad' : `user-${index}`))
    for (const key of [...keys, ...keys]) scene.evaluate({ kind: 'user', key })
    await scene.usage.flush()
    expect(scene.usage.stats).toEqual({ dropped: { ...NOTHING, contexts: 2 }, pending: 0 })
    const kept = await contextsIn(scene.storage)
    expect(kept.map(({ key }) => key)).toEqual(keys.filter((key) => key !== 'bad').sort())
    expect(new Set(kept.map(({ seenCount }) => seenCount))).toEqual(new Set([2]))
  })

  it('A refused evaluation time of a flag is dropped and counted, and the times of other flags and the requests are written', async () => {
    const refuses = `new.id = 'flag-title'`
    const scene = await openScene({ table: 'ff_flag', refuses, event: 'update' })
    for (let time = 0; time < 2; time += 1) {
      scene.evaluate(pro)
      await scene.usage.flush()
      expect(scene.usage.stats).toEqual({ dropped: { ...NOTHING, flags: 1 }, pending: 0 })
    }
    expect(await apiUsage(scene)).toBe(2)
    expect(await markedFlags(scene)).toEqual(KEYS.filter((key) => key !== 'title'))
  })

  it('Refused requests of an organization are dropped and counted, and the evaluation times of its flags are written', async () => {
    const scene = await openScene({ table: 'ff_api_calls', refuses: 'new.calls = 3' })
    for (let time = 0; time < 3; time += 1) scene.evaluate(pro)
    await scene.usage.flush()
    expect(scene.usage.stats).toEqual({ dropped: { ...NOTHING, requests: 3 }, pending: 0 })
    expect(await markedFlags(scene)).toEqual(KEYS)
    scene.evaluate(pro)
    await scene.usage.flush()
    expect(await apiUsage(scene)).toBe(1)
  })

  it('The users of a refused sketch are dropped and counted, and the other sketches are written', async () => {
    const scene = await openScene({
      table: 'ff_user_sketch',
      refuses: `new.flag_id = 'flag-banner'`,
    })
    const { usage, live, clock } = scene
    for (const [flag, key] of [
      ['banner', 'a'],
      ['banner', 'b'],
      ['title', 'c'],
    ] as const) {
      const evaluated = evaluateTimed({
        flagSet,
        context: { kind: 'user', key },
        now: clock.now(),
        flagKeys: [flag],
      })
      usage.evaluated({ environmentId: live.environmentId, kind: 'server' }, 'sdk', evaluated)
    }
    await usage.flush()
    expect(usage.stats).toEqual({ dropped: { ...NOTHING, users: 2 }, pending: 0 })
    const { data } = await scene.storage.list('userSketch', {})
    expect(data.map(({ flagId }) => flagId)).toEqual(['flag-title'])
    await usage.flush()
    expect(usage.stats).toEqual({ dropped: { ...NOTHING, users: 2 }, pending: 0 })
  })

  it('The refusal of usage by the store is logged once, and later usage is written', async () => {
    const table = 'ff_evaluation_count'
    const scene = await openScene({ table, refuses: `new.flag_id = 'flag-title'` })
    for (let time = 1; time <= 3; time += 1) {
      scene.evaluate(pro)
      await scene.usage.flush()
      expect(await countsOf(scene, 'flag-banner')).toEqual({ 'rest STATIC banner-x': time })
    }
    expect(scene.logged).toEqual(['The store refused some usage, which was dropped'])
  })
})
