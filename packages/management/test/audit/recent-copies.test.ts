import type { RecentEvents, Records } from '@ff/storage'
import { expect, it } from 'vitest'
import { silentLogger } from '../../../server/src/runtime/logger.ts'
import { allInMemory } from '../../../server/test/capabilities.ts'
import { type Json, World } from '../world/world.ts'

type Entry = Records['auditEvent']

/** Copies of the newest entries, which a test can alter. */
class Copies implements RecentEvents {
  readonly #chains = new Map<string, string>()
  finds = 0

  async add(chain: string, entry: Entry): Promise<void> {
    const present = this.#chains.get(chain)
    const entries = present === undefined ? [] : (JSON.parse(present) as Entry[])
    if (present === undefined && entry.previousHash !== '') return
    this.#chains.set(chain, JSON.stringify([entry, ...entries]))
  }

  async find(chain: string, newestHash: string): Promise<readonly Entry[] | undefined> {
    this.finds += 1
    const entries = JSON.parse(this.#chains.get(chain) ?? '[]') as Entry[]
    return entries[0]?.hash === newestHash ? entries : undefined
  }

  async fill(chain: string, entries: readonly Entry[]): Promise<void> {
    this.#chains.set(chain, JSON.stringify(entries))
  }

  alter(change: (entries: Entry[]) => Entry[]): void {
    for (const [chain, text] of this.#chains) {
      this.#chains.set(chain, JSON.stringify(change(JSON.parse(text))))
    }
  }
}

async function open() {
  const copies = new Copies()
  const { storage } = allInMemory()
  const errors: string[] = []
  const logger = { ...silentLogger, error: (message: string) => void errors.push(message) }
  const world = await World.create(storage, { recentEvents: copies, logger })
  const { project, tokens } = await world.addTenant('Acme')
  const token = tokens.owner
  const addFlag = async (key: string) => {
    const body = { key, type: 'boolean' }
    await world.call('POST', `/projects/${project.id}/flags`, { token, body })
  }
  const list = async (source: string): Promise<Json> => {
    const address = `/audit/logs?limit=100&source=${source}`
    return (await world.call('GET', address, { token: tokens.owner })).data
  }
  await addFlag('first')
  await addFlag('second')
  return { copies, errors, addFlag, list }
}

const altered: Readonly<Record<string, (entries: Entry[]) => Entry[]>> = {
  'another actor': ([first, ...rest]) => [
    { ...(first as Entry), actorId: 'someone else' },
    ...rest,
  ],
  'an entry less': (entries) => entries.filter((_, index) => index !== 1),
  'another order': ([a, b, c, ...rest]) => [a, c, b, ...rest] as Entry[],
  'another position': ([a, b, ...rest]) => {
    return [{ ...(a as Entry), position: `9${a?.position}` }, b as Entry, ...rest]
  },
  'a position that is no text': ([a, b, ...rest]) => {
    return [a as Entry, { ...b, position: 5 } as never, ...rest]
  },
  'no content': ([a, ...rest]) => [{ hash: a?.hash } as Entry, ...rest],
}

it.each(Object.keys(altered))(
  'A copy of the audit log with %s is reported, and the entries of the store are returned',
  async (name) => {
    const { copies, errors, list } = await open()
    const stored = await list('database')
    copies.alter(altered[name] as never)
    expect(await list('redis')).toEqual(stored)
    expect(errors).toEqual(['The copy of an audit log was altered and is replaced'])
    expect(await list('redis')).toEqual(stored)
    expect(errors).toHaveLength(1)
  },
)

it('A copy that was verified is not read again until an entry is added, also if it is altered meanwhile', async () => {
  const { copies, errors, addFlag, list } = await open()
  await list('redis')
  const { finds } = copies
  copies.alter(altered['another actor'] as never)
  expect(await list('redis')).toEqual(await list('database'))
  expect(copies.finds).toBe(finds)
  await addFlag('third')
  expect(await list('redis')).toEqual(await list('database'))
  expect(copies.finds).toBeGreaterThan(finds)
  expect(errors).toEqual(['The copy of an audit log was altered and is replaced'])
})
