import { servedBy } from '../evaluation/outcome.ts'
import type { FlagValue } from '../model/value.ts'

type Values = Record<string, FlagValue>

/** Objects with more names are slow to copy. */
const MAX_COPIED_NAMES = 1_020

/**
 * An engine remembers for each of these functions how the objects that it copied are laid out, but
 * only a few; beyond that, copying is many times slower. Flag sets with different keys mostly use
 * different functions.
 */
const COPIERS: readonly ((values: Values) => Values)[] = [
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
]

/**
 * An object with all names, which is copied and filled for each evaluation. That costs a fraction of
 * adding one name after the other.
 */
export class ValuesTemplate {
  readonly #names: readonly string[]
  readonly #offsets: Int32Array
  readonly #newObject: () => Values

  constructor(names: readonly string[], offsets: Int32Array) {
    this.#names = names.map(asPropertyName)
    this.#offsets = offsets
    const object: Values = Object.fromEntries(names.map((name) => [name, null]))
    const copy = COPIERS[names.length % COPIERS.length]
    const isCopied = copy !== undefined && names.length <= MAX_COPIED_NAMES
    this.#newObject = isCopied ? () => copy(object) : () => Object.create(null)
  }

  /** A new object that inherits nothing, with a value for each name, in their order. */
  fill(values: readonly FlagValue[], codes: Int32Array, start: number): Values {
    const names = this.#names
    const offsets = this.#offsets
    const object = this.#newObject()
    for (let at = 0; at < names.length; at += 1) {
      const place = (offsets[at] ?? 0) + servedBy(codes[start + at] ?? 0)
      object[names[at] ?? ''] = values[place] ?? null
    }
    return Object.setPrototypeOf(object, null)
  }
}

/** Returns the name as engines store names of properties, which are found without a look-up. */
function asPropertyName(name: string): string {
  return Object.keys({ [name]: null })[0] ?? name
}
