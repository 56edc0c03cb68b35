import type { FlagClient } from '@ff/client'

type Client = Pick<FlagClient<Readonly<Record<string, unknown>>>, 'value' | 'snapshot'>

/** Finds the flags of a client whose values have changed. */
export class ChangedFlags {
  readonly #client: Client
  #values: ReadonlyMap<string, unknown> = new Map()

  constructor(client: Client) {
    this.#client = client
  }

  /** Returns the keys of the flags whose values have changed since the last call. */
  take(): string[] {
    const before = this.#values
    const keys = new Set([...before.keys(), ...Object.keys(this.#client.snapshot().flags)])
    const after = new Map([...keys].map((key) => [key, this.#client.value(key)]))
    this.#values = after
    // A value that is equal as JSON keeps its identity.
    return [...keys].filter((key) => before.get(key) !== after.get(key))
  }
}
