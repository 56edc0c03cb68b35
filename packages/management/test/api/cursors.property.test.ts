import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { stores } from '../world/stores.ts'
import { type Json, type Tenant, World } from '../world/world.ts'

type Remove = (change: Change, place: Place, name: string) => Promise<unknown>

/** A list that a reader follows while its entries change. */
interface List {
  /** Returns the address of the list, to which parameters can be appended. */
  readonly path: (place: Place, sort: string) => string
  /** Adds the entry with a number, and returns its name in the list. */
  readonly insert: (change: Change, place: Place, number: number) => Promise<string>
  /** Deletes an entry; absent if entries of the list cannot be deleted. */
  readonly remove?: Remove
  /** Returns the name of an entry of a page. */
  readonly nameOf: (entry: Json) => string
  readonly sorts: readonly string[]
}

/** The project of a run. */
interface Place {
  readonly id: string
  readonly key: string
  readonly orgId: string
}

type Change = (method: string, path: string, body?: Json) => Promise<Json>

/** Keys whose order is not that of their insertion. */
const keyOf = (number: number) => `${(number * 7) % 10}-${number}`

const insertInto =
  (resource: string): List['insert'] =>
  async (change, { id }, number) => {
    const body = { key: keyOf(number), name: `Name ${number % 3}` }
    const ofFlag = resource === 'flags' && { type: 'boolean' }
    return (await change('POST', `/projects/${id}/${resource}`, { ...body, ...ofFlag })).key
  }
const removeFrom =
  (resource: string): Remove =>
  (change, { id }, name) =>
    change('DELETE', `/projects/${id}/${resource}/${name}`)

const FLAGS = { insert: insertInto('flags'), remove: removeFrom('flags'), nameOf: keyIn }

function keyIn({ key }: Json): string {
  return key
}

const LISTS: Readonly<Record<string, List>> = {
  flags: { ...FLAGS, path: ({ id }) => `/projects/${id}/flags?`, sorts: [''] },
  'flag summaries': {
    ...FLAGS,
    path: ({ id }, sort) => `/projects/${id}/flag-summaries?sort=${sort}&`,
    sorts: ['key:asc', 'key:desc', 'name:asc', 'name:desc', 'updated_at:asc', 'created_at:desc'],
  },
  segments: {
    ...{ insert: insertInto('segments'), remove: removeFrom('segments'), nameOf: keyIn },
    path: ({ id }) => `/projects/${id}/segments?`,
    sorts: [''],
  },
  projects: {
    async insert(change, { orgId, key }, number) {
      const body = { key: `${key}.${keyOf(number)}` }
      return (await change('POST', `/organizations/${orgId}/projects`, body)).key
    },
    remove: (change, _, name) => change('DELETE', `/projects/${name}`),
    nameOf: keyIn,
    path: ({ orgId, key }) => `/organizations/${orgId}/projects?search=${key}.&`,
    sorts: [''],
  },
  versions: {
    async insert(change, { id }, number) {
      const state = `/projects/${id}/envs/live/flags/counter`
      await change('PUT', state, { is_active: number % 2 === 1 })
      return String((await change('GET', `/projects/${id}/envs/live/versions`)).meta.total)
    },
    nameOf: ({ version }) => String(version),
    path: ({ id }) => `/projects/${id}/envs/live/versions?`,
    sorts: [''],
  },
  'the audit log': {
    insert: insertInto('segments'),
    nameOf: ({ payload }) => payload.after.key,
    path: ({ id }, sort) => `/audit/logs?event_type=segment.created&project_id=${id}&${sort}`,
    sorts: ['', 'sort=created_at:asc&', 'sort=actor_id:desc&', 'source=redis&'],
  },
}

describe.each(stores)('cursors in %s', (store, open) => {
  it.each(Object.entries(LISTS))(
    'A reader of %s receives each entry that exists throughout exactly once',
    async (__, list) => {
      const { storage, clean } = open()
      const world = await World.create(storage)
      const tenant = await world.addTenant('Mine')
      let number = 0
      await fc.assert(
        fc.asyncProperty(reading(list), async (plan) => {
          number += 1
          await follow({ world, tenant, list, key: `run-${number}`, ...plan })
        }),
        // A request takes much longer on PostgreSQL; the six lists together have 300 runs.
        { numRuns: runs(store === 'PostgreSQL' ? 50 : 300) },
      )
      await storage.close()
      clean()
    },
  )
})

/** What a reader reads, and what happens before each of its pages but the first. */
const reading = ({ sorts }: List) =>
  fc.record({
    sort: fc.constantFrom(...sorts),
    limit: fc.integer({ min: 1, max: 4 }),
    count: fc.integer({ min: 0, max: 8 }),
    steps: fc.array(
      fc.array(
        fc.record({
          isInserted: fc.boolean(),
          entry: fc.nat({ max: 30 }),
        }),
        { maxLength: 3 },
      ),
      { maxLength: 6 },
    ),
  })

type Plan = ReturnType<typeof reading> extends fc.Arbitrary<infer Value> ? Value : never

interface Run extends Plan {
  readonly world: World
  readonly tenant: Tenant
  readonly list: List
  /** The key of the project of the run. */
  readonly key: string
}

/** Reads a list page by page, with changes between the pages. */
async function follow({ world, tenant, list, key, sort, limit, count, steps }: Run) {
  const change: Change = async (method, address, body) => {
    const answer = await world.call(method, address, { token: tenant.tokens.owner, body })
    if (answer.status >= 300) throw new Error(`${method} ${address}: ${answer.text}`)
    return answer.data
  }
  const { orgId } = tenant
  const { id } = await change('POST', `/organizations/${orgId}/projects`, { key })
  await change('POST', `/projects/${id}/flags`, { key: 'counter', type: 'boolean' })
  const place = { id, key, orgId }
  const names: string[] = []
  for (let n = 0; n < count; n += 1) names.push(await list.insert(change, place, n))
  const path = list.path(place, sort)
  const atFirst = await change('GET', `${path}limit=100`)
  expect(atFirst.next).toBeUndefined()
  const kept = new Set<string>(atFirst.data.map(list.nameOf))
  const read: string[] = []
  let next: string | undefined = ''
  for (let page = 0; next !== undefined; page += 1) {
    const after: string = next === '' ? '' : `&after=${next}`
    const found: Json = await change('GET', `${path}limit=${limit}${after}`)
    read.push(...found.data.map(list.nameOf))
    next = found.next
    for (const { isInserted, entry } of steps[page] ?? []) {
      const name = names[entry % names.length] ?? ''
      if (isInserted) names.push(await list.insert(change, place, names.length))
      else if (kept.delete(name)) await list.remove?.(change, place, name)
    }
  }
  expect(new Set(read).size).toBe(read.length)
  expect(read.filter((name) => kept.has(name)).toSorted()).toEqual([...kept].toSorted())
}
