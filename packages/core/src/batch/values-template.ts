import { servedBy } from '../evaluation/outcome.ts'
import type { FlagValue } from '../model/value.ts'
import { type Layout, SETTER_SIZE, type Setter, takeSetters } from './setters.ts'

type Values = Record<string, FlagValue>

/** Objects with more names are slow to copy. */
const MAX_FAST = 1_020

/**
 * Each remembers how the objects it met are laid out, but only a few; then it is many times slower.
 * So there are several, and flag sets with different keys mostly meet different ones. What they
 * return inherits nothing.
 */
// biome-ignore-start lint/style/useNamingConvention: so the language calls it
const COPIERS: readonly ((values: Values) => Values)[] = [
  (values) => ({ ...values, __proto__: null }),
  (values) => ({ ...values, __proto__: null }),
  (values) => ({ ...values, __proto__: null }),
  (values) => ({ ...values, __proto__: null }),
]
// biome-ignore-end lint/style/useNamingConvention: so the language calls it

/**
 * An object to be copied for each answer: to fill in one that has all names costs a fraction of what
 * it costs to add name after name.
 */
export class ValuesTemplate implements Layout {
  readonly names: readonly string[]
  readonly offsets: Int32Array
  /** undefined: it would be slow to copy. */
  readonly #object: Values | undefined
  readonly #copy: (values: Values) => Values
  /** Taken when there is something to set. */
  #setters: readonly Setter[] | undefined

  constructor(names: readonly string[], offsets: Int32Array) {
    this.names = names.map(asPropertyName)
    this.offsets = offsets
    // Setting name after name would not lay it out for fast access.
    const members = names.map((name): [string, FlagValue] => [name, null])
    this.#object = names.length > MAX_FAST ? undefined : Object.fromEntries(members)
    this.#copy = COPIERS[names.length % COPIERS.length] ?? ((object) => ({ ...object }))
  }

  /** A new object that inherits nothing, with a value for each name, in their order. */
  fill(values: readonly FlagValue[], codes: Int32Array, start: number): Values {
    const { names, offsets } = this
    const object = this.#object === undefined ? Object.create(null) : this.#copy(this.#object)
    let at = 0
    if (this.#object !== undefined && names.length >= SETTER_SIZE) {
      this.#setters ??= takeSetters(Math.ceil(names.length / SETTER_SIZE))
      for (const set of this.#setters) {
        // The last one sets again what others have set.
        set(object, this, values, codes, start, Math.min(at, names.length - SETTER_SIZE))
        at += SETTER_SIZE
      }
    }
    for (; at < names.length; at += 1) {
      object[names[at] ?? ''] =
        values[(offsets[at] ?? 0) + servedBy(codes[start + at] ?? 0)] ?? null
    }
    return object
  }
}

/** As engines have it that know it as the name of a property, which spares them looking it up. */
function asPropertyName(name: string): string {
  return Object.keys({ [name]: null })[0] ?? name
}
