import type { Storage } from '@ff/storage'
import { expect } from 'vitest'
import type { Json } from '../world/world.ts'
import { ask, type DataFile } from './data-file.ts'

const RULES = 5

/** The flag whose configuration the writer publishes. */
interface Target {
  readonly path: string
  readonly flagId: string
  readonly variationIds: readonly string[]
  /** The version of the environment before the first publish. */
  readonly version: number
}

interface Sent {
  readonly number: number
  readonly etag: string
  readonly body: Json
}

/**
 * Publishes one configuration of a flag after another: 1, 2, 3 … Every part of a configuration
 * contains its number, so a configuration that was applied partly has different numbers.
 */
export class PublishingWriter {
  readonly #file: DataFile
  #target: Target | undefined
  #etag = ''
  #sent: Sent | undefined
  /** The last number that was acknowledged. */
  acknowledged = 0

  constructor(file: DataFile) {
    this.#file = file
  }

  /** Creates the flag. */
  async begin(url: string): Promise<void> {
    const { project, live } = this.#file.tenant
    const variations = ['x', 'y'].map((key) => ({ key, value: key }))
    const body = { key: 'published', type: 'string', variations }
    const flags = `/projects/${project.id}/flags`
    const flag = await this.#ask('POST', `${url}${flags}`, { body })
    const environment = `/projects/${project.id}/envs/${live.id}`
    const versions = await this.#ask('GET', `${url}${environment}/versions?limit=1`)
    this.#target = {
      path: `${environment}/flags/${flag?.data.id}/configuration`,
      flagId: flag?.data.id,
      variationIds: flag?.data.variations.map(({ id }: Json) => id),
      version: versions?.data.data[0].version,
    }
    const present = await this.#ask('GET', `${url}${this.#found.path}`)
    this.#etag = `"${present?.data.revision}"`
  }

  /** Repeats the last publish if it was not acknowledged. */
  async settle(url: string): Promise<void> {
    if (this.#sent === undefined || this.#sent.number === this.acknowledged) return
    expect(await this.#publish(url, this.#sent), 'the repeated publish').toBe(200)
  }

  /** Publishes until a request fails. Returns its status; `undefined` if there was no response. */
  async write(url: string): Promise<number | undefined> {
    for (;;) {
      const number = this.acknowledged + 1
      this.#sent = { number, etag: this.#etag, body: this.#bodyOf(number) }
      const status = await this.#publish(url, this.#sent)
      if (status !== 200) return status
    }
  }

  /** Asserts that the store contains one whole configuration, which is the last or the next one. */
  async assertWhole(storage: Storage): Promise<void> {
    const { flagId, version } = this.#found
    const { live } = this.#file.tenant
    const flagSet = await storage.loadFlagSet(live.id)
    const number = (flagSet?.version ?? 0) - version
    expect(number, 'the number of versions').toBeGreaterThanOrEqual(this.acknowledged)
    expect(number, 'the number of versions').toBeLessThanOrEqual(this.#sent?.number ?? 0)
    const events = await storage.list('auditEvent', { where: { eventType: 'flag.configured' } })
    expect(events.data.length, 'the number of audit entries').toBe(number)
    if (number === 0) return
    const whole = wholeOf(number)
    const here = { where: { flagId, environmentId: live.id } }
    const [state] = (await storage.list('flagState', here)).data
    const rules = (await storage.list('targetingRule', here)).data
    const rollouts = (await storage.list('rollout', here)).data
    expect(numbersIn({ targets: state?.targets, rules, rollouts })).toEqual(whole)
    const published = flagSet?.flags.find(({ id }) => id === flagId)
    const { targets, rules: servedRules, rollouts: served } = published ?? {}
    expect(numbersIn({ targets, rules: servedRules, rollouts: served })).toEqual(whole)
  }

  get #found(): Target {
    if (this.#target === undefined) throw new Error('There is no flag yet.')
    return this.#target
  }

  /** Returns a configuration. Some rules and rollouts are kept, others are replaced. */
  #bodyOf(number: number): Json {
    const [x, y] = this.#found.variationIds
    const half = idOf(1, number % 3)
    const value = String(number)
    return {
      state: { is_active: true, targets: [{ variation_id: y, kind: 'user', keys: [value] }] },
      targeting_rules: Array.from({ length: RULES }, (_, index) => ({
        id: idOf(2, index + (number % 4)),
        name: value,
        conditions: [{ attribute: 'user.plan', operator: 'eq', value }],
        ...(index % 2 === 0 ? { variation_id: x } : { rollout_id: half }),
      })),
      rollouts: [
        {
          id: half,
          name: value,
          strategy: 'percentage',
          variation_id: y,
          percentage: 0,
          salt: value,
        },
      ],
    }
  }

  async #publish(url: string, { number, etag, body }: Sent): Promise<number | undefined> {
    const headers = { 'if-match': etag, 'idempotency-key': `publish-${number}` }
    const answer = await this.#ask('PUT', `${url}${this.#found.path}`, { body, headers })
    if (answer?.status !== 200) return answer?.status
    expect(answer.data.version, 'the version of the publish').toBe(this.#found.version + number)
    this.acknowledged = number
    this.#etag = `"${answer.data.configuration.revision}"`
    return 200
  }

  #ask(method: 'GET' | 'POST' | 'PUT', address: string, sent: Json = {}) {
    return ask(address, { method, token: this.#file.tenant.tokens.editor, ...sent })
  }
}

function idOf(kind: number, index: number): string {
  return `00000000-0000-4000-8000-${kind}${String(index).padStart(11, '0')}`
}

interface Parts {
  readonly targets?: readonly { readonly keys: readonly string[] }[] | undefined
  readonly rules?:
    | readonly { readonly conditions: readonly { readonly value: string }[] }[]
    | undefined
  readonly rollouts?: readonly { readonly salt: string }[] | undefined
}

/** Returns the numbers that the parts of a configuration contain. */
function numbersIn({ targets = [], rules = [], rollouts = [] }: Parts) {
  return {
    targets: targets.flatMap(({ keys }) => keys).map(Number),
    rules: rules.flatMap(({ conditions }) => conditions.map(({ value }) => Number(value))),
    rollouts: rollouts.map(({ salt }) => Number(salt)),
  }
}

/** Returns the numbers that a whole configuration contains. */
function wholeOf(number: number) {
  return {
    targets: [number],
    rules: Array.from({ length: RULES }, () => number),
    rollouts: [number],
  }
}
