import { expect } from 'vitest'
import { CountingWriter, readKept } from './counting-writer.ts'
import { ask, type Tenants, withStorage } from './data-file.ts'
import { timed } from './durations.ts'

const WRITERS = 4

/** A store at a location, with its organizations. */
export interface WrittenStore extends Tenants {
  /** The path of a data file, or the URL of a PostgreSQL database. */
  readonly location: string
}

/** Four writers that work at the same time. */
export class CountingWriters {
  readonly #store: WrittenStore
  readonly #writers: readonly CountingWriter[]

  constructor(store: WrittenStore) {
    this.#store = store
    this.#writers = Array.from({ length: WRITERS }, () => new CountingWriter(store))
  }

  /** The number of acknowledged writes. */
  get acknowledged(): number {
    return this.#writers.reduce((sum, writer) => sum + writer.acknowledged, 0)
  }

  /**
   * Repeats unacknowledged creations, each of which is applied only once. Returns the milliseconds
   * until the first one was acknowledged.
   */
  async settle(url: string): Promise<number> {
    const settling = this.#writers.map((writer) => timed(() => writer.settle(url)))
    return Math.min(...(await Promise.all(settling)).map(({ ms }) => ms))
  }

  /** Writes until a request of each writer has failed. Returns the different statuses. */
  async write(url: string): Promise<ReadonlySet<number | undefined>> {
    return new Set(await Promise.all(this.#writers.map((writer) => writer.write(url))))
  }

  /** Compares the store with the acknowledged writes. */
  async assertKept(): Promise<void> {
    const { location, tenant } = this.#store
    const kept = await withStorage(location, (storage) => readKept(storage, tenant))
    for (const writer of this.#writers) writer.assertKept(kept)
  }

  /** Verifies the audit chain with a server. */
  async assertChain(url: string): Promise<void> {
    const { orgId, tokens } = this.#store.tenant
    const address = `${url}/audit/verify?org_id=${orgId}`
    const chain = await ask(address, { method: 'GET', token: tokens.owner })
    expect(chain?.data).toMatchObject({ valid: true })
  }
}
