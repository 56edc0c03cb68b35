import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { MAX_CONTEXT_TEXT_LENGTH } from '@ff/core'
import { KIND_RULES, type Kind, type Storage } from '@ff/storage'
import { copyStore, restoreBackup, type StoredTables, writeBackup } from '@ff/storage/backup'
import { postgres, postgresTables } from '@ff/storage/postgres'
import { sqlite, sqliteTables } from '@ff/storage/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sample } from '../../../../storage/src/contract/samples/samples.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import { temporaryFolder } from '../../../../storage/test/temporary-folder.ts'
import type { Actor } from '../../../src/index.ts'
import {
  createManagedServer,
  type ManagedOptions,
  type ManagedServer,
} from '../../world/managed-server.ts'

type Text = (length: number) => string

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** Returns random texts, because a database could compress others. */
const ascii: Text = (length) => textOf(length, () => LETTERS[randomInt(LETTERS.length)] ?? '')
const cjk: Text = (length) => textOf(length, () => String.fromCharCode(randomInt(0x4e00, 0x9fff)))

function textOf(length: number, letter: () => string): string {
  return Array.from({ length }, letter).join('')
}

const PLATFORM: Actor = { id: '', email: '', name: '', role: 'platform', orgId: null }

/** Serves a store until `work` has ended, and returns its result. */
async function serve<T>(
  store: ManagedOptions,
  work: (flags: ManagedServer) => Promise<T>,
): Promise<T> {
  const flags = createManagedServer({ ...store, secretKey: '5e'.repeat(32) })
  onTestFinished(() => flags.close())
  await flags.start()
  const result = await work(flags)
  await flags.close()
  return result
}

/** Fills a store with records whose texts have their greatest accepted lengths. */
async function fill(flags: ManagedServer, text: Text) {
  const actor: Actor = {
    ...{ id: text(256), email: text(256), name: text(256), role: 'platform', orgId: null },
  }
  const management = flags.as(actor)
  const email = `${ascii(64)}@${ascii(63)}.${ascii(63)}.${ascii(57)}.com`
  const described = () => ({ name: text(256), description: text(4096) })
  const comment = text(1000)
  const { id: orgId } = await management.createOrganization({
    body: { name: text(256), billingEmail: email },
  })
  const metadataUpdates = { [text(64)]: text(1000) }
  await management.updateOrganization({ params: { orgId }, body: { metadataUpdates } })
  await management.createPlan({
    body: { name: text(256), productLink: `https://pay.test/${ascii(2031)}` },
  })
  const member = { email, name: text(256), role: 'owner' } as const
  await management.addMember({ params: { orgId }, body: member })
  await management.createAccessToken({
    params: { orgId },
    body: { name: text(256), role: 'viewer' },
  })
  const url = `https://hooks.test/${ascii(2029)}`
  await management.createWebhook({ params: { orgId }, body: { url, eventTypes: ['flag.*'] } })

  const project = await management.createProject({
    params: { orgId },
    body: { key: ascii(128), ...described() },
  })
  const [projectId, environmentId = ''] = [project.id, project.environments[0]?.id]
  const params = { projectId, environmentId }
  const keptAttributes = Array.from({ length: 50 }, () => text(512))
  await management.updateEnvironment({
    params,
    body: { name: text(256), contextPrivacy: 'all', keptAttributes },
    comment,
  })
  const { key: sdkKey } = await management.createSdkKey({
    params,
    body: { name: text(256), kind: 'server' },
  })
  const condition = () => {
    return { attribute: text(512), operator: 'eq', value: text(65_536), negate: false } as const
  }
  const listed = Array.from({ length: 100 }, () => text(1024))
  const segment = await management.createSegment({
    params: { projectId },
    body: {
      ...{ key: ascii(128), ...described(), rules: [condition()], keyAttribute: text(512) },
    },
  })
  const lists = { included: listed.slice(0, 50), excluded: listed.slice(50) }
  for (const [list, add] of Object.entries(lists)) {
    const body = { list: list as keyof typeof lists, add }
    await management.changeSegmentKeys({ params: { projectId, segmentId: segment.id }, body })
  }
  const flag = await management.createFlag({
    params: { projectId },
    body: {
      ...{ key: ascii(128), ...described(), type: 'string' },
      tags: Array.from({ length: 64 }, () => text(64)),
      variations: [ascii(128), ascii(128)].map((key) => {
        return { key, ...described(), value: text(65_536) }
      }),
    },
    comment,
  })
  const [first, second] = flag.variations
  const inPlace = { params: { ...params, flagId: flag.id } }
  const variationId = second?.id ?? ''
  const contextKey = text(MAX_CONTEXT_TEXT_LENGTH)
  const keys = [text(1024), contextKey.slice(0, 1024)]
  await management.updateFlagState({
    ...inPlace,
    body: { isActive: true, targets: [{ variationId, kind: text(64), keys }] },
  })
  const salt = text(128)
  const rollout = await management.createRollout({
    ...inPlace,
    body: {
      ...{ name: text(256), strategy: 'percentage', salt, bucketBy: 'key' },
      ...{ variationId, percentage: 50 },
    },
  })
  await management.createTargetingRule({
    ...inPlace,
    body: { name: text(256), segmentId: segment.id, variationId: first?.id ?? '' },
  })
  await management.createTargetingRule({
    ...inPlace,
    body: { name: text(256), conditions: [], rolloutId: rollout.id },
  })
  await management.createScheduledChange({
    ...inPlace,
    body: {
      applyAt: '2099-01-01T00:00:00.000Z',
      operation: 'createTargetingRule',
      body: { name: text(256), conditions: [condition()], variation_id: variationId },
    },
    comment,
  })
  const contexts = [
    { kind: 'user', key: contextKey },
    ...listed.slice(0, 20).map((key) => ({ kind: text(64), key })),
  ]
  return { sdkKey, contexts, search: flag.name.slice(10, 200), projectId, environmentId }
}

type Filled = Awaited<ReturnType<typeof fill>>

/** Returns the answers of a server that clients and users see. */
async function answersOf(flags: ManagedServer, { sdkKey, contexts, search, projectId }: Filled) {
  const management = flags.as(PLATFORM)
  const values: unknown[] = []
  for (const context of contexts) {
    const headers = { 'x-api-key': sdkKey, 'content-type': 'application/json' }
    const body = JSON.stringify({ context })
    const request = new Request('http://flags.test/evaluator/evaluate', {
      ...{ method: 'POST', headers, body },
    })
    const response = await flags.fetch(request)
    values.push([response.status, await response.json()])
  }
  const params = { projectId }
  return {
    values,
    flags: await management.listFlags({ params, query: { search } }),
    segments: await management.listSegments({ params }),
    events: await management.listAuditLog({}),
    verified: await management.verifyAuditLog({}),
  }
}

/** Returns all records of a store, by kind. */
async function recordsOf(storage: Storage) {
  const kinds = Object.keys(KIND_RULES) as Kind[]
  const lists = kinds.map(async (kind) => [kind, (await storage.list(kind, {})).data] as const)
  return Object.fromEntries(await Promise.all(lists))
}

describe('a store whose texts have their greatest lengths', { timeout: 120_000 }, () => {
  it.each([
    ['ASCII', ascii],
    ['CJK', cjk],
  ] as const)(
    'Its copy and its backup in PostgreSQL are equal, with texts in %s',
    async (_, text) => {
      const folder = await temporaryFolder()
      const path = join(folder, 'flags.db')
      const filled = await serve(sqlite({ path }), async (flags) => {
        const written = await fill(flags, text)
        await answersOf(flags, written)
        return written
      })
      const expected = await serve(sqlite({ path }), (flags) => answersOf(flags, filled))
      const { storage } = sqlite({ path })
      await storage.migrate()
      await storage.insert(
        'identity',
        sample('identity', { issuer: text(512), subject: text(255) }),
      )
      const records = await recordsOf(storage)
      await storage.close()
      expect(records['observedContext']).toHaveLength(filled.contexts.length)
      expect(expected.verified.firstBroken).toBeNull()
      expect(expected.flags.data).toHaveLength(1)

      const file = sqliteTables({ path })
      const backup = join(folder, 'flags.backup')
      await writeBackup(file, backup)
      const creations: ((to: StoredTables) => Promise<unknown>)[] = [
        (to) => copyStore({ from: file, to }),
        (to) => restoreBackup(backup, to),
      ]
      for (const create of creations) {
        const { url } = await newPostgresSchema()
        await create(postgresTables({ url }))
        const store = postgres({ url, listenUrl: false })
        await store.storage.migrate()
        expect(await recordsOf(store.storage)).toEqual(records)
        await serve(store, async (copy) => {
          expect(await answersOf(copy, filled)).toEqual(expected)
          await forget(copy, filled)
        })
      }
    },
  )
})

/** Removes a context by its key, which is found whatever its length. */
async function forget(flags: ManagedServer, { environmentId, contexts }: Filled): Promise<void> {
  const management = flags.as(PLATFORM)
  const key = contexts[1]?.key ?? ''
  const count = async () => (await management.listObservedContexts({})).meta.total
  const before = await count()
  await management.forgetObservedContexts({ query: { environmentId, key } })
  expect(await count()).toBe(before - 1)
}
