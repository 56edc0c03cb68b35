import type { ContextSample, Storage } from '@ff/storage'
import { seed } from '../../../server/test/seed.ts'
import type { ContextLimits } from '../../src/insights/context-limits.ts'
import { contextSampleIn } from '../world/scene.ts'
import type { stores } from '../world/stores.ts'

const START = Date.parse('2030-01-01T00:00:00.000Z')
const MUCH = { contexts: 1_000_000, bytes: 1_000_000_000_000 }

/** Returns limits in which the given parts differ from very high ones. */
export function limits(
  perEnvironment: Partial<ContextLimits['perEnvironment']>,
  perOrganization: Partial<ContextLimits['perOrganization']> = {},
): ContextLimits {
  return {
    perEnvironment: { ...MUCH, ...perEnvironment },
    perOrganization: { ...MUCH, ...perOrganization },
  }
}

/** A store with a project of two environments. Times are seconds since a fixed start. */
export class ContextStore {
  readonly storage: Storage
  readonly orgId: string
  readonly projectId: string
  readonly live: string
  readonly staging: string
  readonly #clean: () => void

  private constructor(
    { storage, clean }: ReturnType<(typeof stores)[number][1]>,
    { orgId, live, staging }: Awaited<ReturnType<typeof seed>>,
  ) {
    this.storage = storage
    this.#clean = clean
    this.orgId = orgId
    this.projectId = live.projectId
    this.live = live.environmentId
    this.staging = staging.environmentId
  }

  static async create(openStore: (typeof stores)[number][1]): Promise<ContextStore> {
    const opened = openStore()
    return new ContextStore(opened, await seed(opened.storage))
  }

  /** Returns a context of its own that was last seen at a time. */
  seen(environmentId: string, second: number, attribute = ''): ContextSample {
    const lastSeen = new Date(START + second * 1000).toISOString()
    const key = `user-${second}`
    return contextSampleIn({ live: { id: environmentId }, orgId: this.orgId } as never, {
      ...{ key, firstSeen: lastSeen, lastSeen },
      hash: crypto.randomUUID().replaceAll('-', ''),
      contextJson: { kind: 'user', key, attribute },
    })
  }

  record(environmentId: string, seconds: readonly number[], attribute = ''): Promise<void> {
    const samples = seconds.map((second) => this.seen(environmentId, second, attribute))
    return this.storage.recordContextSamples(samples)
  }

  /** Returns the times of the contexts of an environment, the earliest first. */
  async secondsOf(environmentId: string): Promise<readonly number[]> {
    const sort = { field: 'lastSeen', direction: 'asc' } as const
    const { data } = await this.storage.list('observedContext', { where: { environmentId }, sort })
    return data.map(({ lastSeen }) => (Date.parse(lastSeen) - START) / 1000)
  }

  async close(): Promise<void> {
    await this.storage.close()
    this.#clean()
  }
}
