import type { FlagValue } from './value.ts'

type Values = Record<string, FlagValue>

/** No name means anything in it; engines copy no objects fast that have no prototype at all. */
const NO_PROTOTYPE: object = Object.freeze(Object.create(null))

/** Objects with more names are slow to copy. */
const MAX_FAST = 1_020

/**
 * Each remembers how the objects it met are laid out, but only a few; then it is many times slower.
 * So there are several, and flag sets with different keys mostly meet different ones.
 */
const COPIERS: readonly ((values: Values) => Values)[] = [
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
]

/**
 * An object to be copied for each answer: to fill in one that has all names costs a fraction of what
 * it costs to add name after name.
 */
export class ValuesTemplate {
  readonly names: readonly string[]
  /** undefined: it would be slow to copy. */
  readonly #object: Values | undefined
  readonly #copy: (values: Values) => Values

  constructor(names: readonly string[]) {
    this.names = names
    // Setting name after name would not lay it out for fast access.
    const members = names.map((name): [string, FlagValue] => [name, null])
    this.#object = names.length > MAX_FAST ? undefined : Object.fromEntries(members)
    this.#copy = COPIERS[names.length % COPIERS.length] ?? ((object) => ({ ...object }))
  }

  /** A new object that inherits nothing, to be given a value for each name. */
  copy(): Values {
    if (this.#object === undefined) return Object.create(null)
    return Object.setPrototypeOf(this.#copy(this.#object), NO_PROTOTYPE)
  }
}
