import type { FlagDefinition } from '@ff/core'
import type { Storage } from '@ff/storage'
import { expect } from 'vitest'
import type { Tenant } from '../world/world.ts'
import { ask, type Tenants } from './data-file.ts'

interface Counter {
  readonly flagKey: string
  /** The idempotency key of the request that creates the flag. */
  readonly idempotencyKey: string
  /** The ids of the flag; set after its creation was acknowledged. */
  ids?: { readonly flagId: string; readonly variationId: string }
  /** The last number that was sent. */
  sent: number
  /** The last number that was acknowledged. */
  acknowledged: number
}

/** The stored state of a flag: its value and the numbers of its audit entries. */
export interface Kept {
  readonly created: number
  readonly updated: number
  readonly value: number
}

/**
 * Creates a number flag and increments its value with one request after another: 1, 2, 3 … Each
 * number is sent once. Therefore the stored number shows which requests were applied: all of the
 * acknowledged ones and at most one more.
 */
export class CountingWriter {
  readonly #tenant: Tenant
  readonly #counters: Counter[] = []

  constructor({ tenant }: Pick<Tenants, 'tenant'>) {
    this.#tenant = tenant
  }

  /** The number of acknowledged writes. */
  get acknowledged(): number {
    const counted = this.#counters.map(({ ids, acknowledged }) => acknowledged + (ids ? 1 : 0))
    return counted.reduce((sum, each) => sum + each, 0)
  }

  /** Repeats the creation of the last flag if it was not acknowledged. */
  async settle(url: string): Promise<void> {
    const last = this.#counters.at(-1)
    if (last === undefined || last.ids !== undefined) return
    expect(await this.#create(url, last), 'the repeated request').toBe(201)
  }

  /** Writes until a write fails. Returns its status; `undefined` if there was no response. */
  async write(url: string): Promise<number | undefined> {
    const counter = { ...newNames(), sent: 0, acknowledged: 0 }
    this.#counters.push(counter)
    const status = await this.#create(url, counter)
    return status === 201 ? this.#countUp(url, counter) : status
  }

  /** Compares the stored state with the acknowledged writes. */
  assertKept(kept: ReadonlyMap<string, Kept>): void {
    for (const { flagKey, ids, sent, acknowledged } of this.#counters) {
      const found = kept.get(flagKey)
      if (found === undefined) expect(ids, `${flagKey} was acknowledged`).toBeUndefined()
      else {
        expect(found.created, `entries for the creation of ${flagKey}`).toBe(1)
        expect(found.value, `${flagKey} acknowledged`).toBeGreaterThanOrEqual(acknowledged)
        expect(found.value, `${flagKey} sent`).toBeLessThanOrEqual(sent)
        expect(found.updated, `entries for the changes of ${flagKey}`).toBe(found.value)
      }
    }
  }

  async #create(url: string, counter: Counter): Promise<number | undefined> {
    const { flagKey: key, idempotencyKey } = counter
    const tenant = this.#tenant
    const variations = ['main', 'spare'].map((name) => ({ key: name, value: '0' }))
    const create = () =>
      ask(`${url}/projects/${tenant.project.id}/flags`, {
        method: 'POST',
        token: tenant.tokens.editor,
        headers: { 'idempotency-key': idempotencyKey },
        body: { key, type: 'number', variations },
      })
    // A server can close an idle connection at the moment at which the client uses it again.
    const answer = (await create()) ?? (await create())
    if (answer?.status === 201) {
      counter.ids = { flagId: answer.data.id, variationId: answer.data.variations[0].id }
    }
    return answer?.status
  }

  async #countUp(url: string, counter: Counter): Promise<number | undefined> {
    const tenant = this.#tenant
    const { flagId, variationId } = counter.ids ?? { flagId: '', variationId: '' }
    const flag = `${url}/projects/${tenant.project.id}/flags/${flagId}`
    for (;;) {
      counter.sent += 1
      const answer = await ask(`${flag}/variations/${variationId}`, {
        method: 'PUT',
        token: tenant.tokens.editor,
        body: { value: String(counter.sent) },
      })
      if (answer?.status !== 200) return answer?.status
      counter.acknowledged = counter.sent
    }
  }
}

function newNames() {
  const id = crypto.randomUUID()
  return { flagKey: `flag-${id}`, idempotencyKey: `create-${id}` }
}

/**
 * Returns every flag by its key. Asserts that each flag is complete: both variations, a state in
 * both environments, and the value of its variation published in both.
 */
export async function readKept(
  storage: Storage,
  { project, live, staging, orgId }: Tenant,
): Promise<ReadonlyMap<string, Kept>> {
  const entries = countBy(
    (await storage.list('auditEvent', { where: { orgId } })).data,
    (event) => `${event.eventType} ${event.streamId}`,
  )
  const states = countBy((await storage.list('flagState', {})).data, ({ flagId }) => flagId)
  const { data: variations } = await storage.list('variation', {})
  const spares = countBy(variations, ({ flagId, key }) => `${flagId} ${key}`)
  const mains = new Map(
    variations.filter(({ key }) => key === 'main').map((main) => [main.flagId, main]),
  )
  const kept = new Map<string, Kept>()
  for (const { id, key } of (await storage.list('flag', { where: { projectId: project.id } }))
    .data) {
    const main = mains.get(id)
    expect([key, spares.get(`${id} spare`), states.get(id)]).toEqual([key, 1, 2])
    kept.set(key, {
      value: Number(main?.value),
      created: entries.get(`flag.created flag:${id}`) ?? 0,
      updated: entries.get(`variation.updated variation:${main?.id}`) ?? 0,
    })
  }
  const counted = [...kept.values()].reduce(
    (sum, { created, updated }) => sum + created + updated,
    0,
  )
  const ours = [...entries].filter(([name]) => /^(flag|variation)\./.test(name))
  expect(
    ours.reduce((sum, [, count]) => sum + count, 0),
    'audit entries',
  ).toBe(counted)
  const values = new Map([...kept].map(([key, { value }]) => [key, value]))
  for (const environment of [live, staging]) {
    const published = (await storage.loadFlagSet(environment.id))?.flags ?? []
    expect(new Map(published.map((flag) => [flag.key, valueIn(flag)]))).toEqual(values)
  }
  return kept
}

function valueIn({ variations }: FlagDefinition): number {
  return Number(variations.find(({ key }) => key === 'main')?.value)
}

function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1)
  return counts
}
