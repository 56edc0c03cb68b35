import { servedBy } from '../evaluation/outcome.ts'
import type { FlagValue } from '../model/value.ts'

type Values = Record<string, FlagValue>

/** The maximum number of names of a template. V8 copies larger objects slowly. */
const MAX_COPIED_NAMES = 1_020

/**
 * Identical functions that copy an object. V8 caches the hidden classes of copied objects for each
 * function, but only a few. If a function copies objects of more classes, it is many times slower.
 * The number of keys selects the function, so that flag sets with different keys mostly use
 * different functions.
 */
const COPIERS: readonly ((values: Values) => Values)[] = [
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
]

/**
 * An object with all flag keys, which is copied and filled for each evaluation. This is much faster
 * than adding one key after the other.
 */
export class ValuesTemplate {
  readonly #names: readonly string[]
  readonly #offsets: Int32Array
  readonly #newObject: () => Values

  constructor(names: readonly string[], offsets: Int32Array) {
    this.#names = names.map(asPropertyName)
    this.#offsets = offsets
    const object: Values = Object.fromEntries(names.map((name) => [name, null]))
    const copy =
      names.length > MAX_COPIED_NAMES ? undefined : COPIERS[names.length % COPIERS.length]
    this.#newObject = copy === undefined ? () => Object.create(null) : () => copy(object)
  }

  /**
   * Returns a new object without a prototype, with a value for each name. All values are set,
   * because a check for differences would be slower.
   */
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

/**
 * Returns the name as an internalized string, which V8 uses as a property name without a lookup.
 */
function asPropertyName(name: string): string {
  return Object.keys({ [name]: null })[0] ?? name
}
