import type { FlagValue } from './value.ts'

type Values = Record<string, FlagValue>

/** No name means anything in it; engines copy no objects fast that have no prototype at all. */
const NO_PROTOTYPE: object = Object.freeze(Object.create(null))

/** Beyond it JSON text is read into a kind of object that is slow to copy. */
const MAX_READ_FAST = 127
/** Objects with more names are slow to copy, however they are made. */
const MAX_FAST = 1_000

/**
 * Each remembers how the objects it met are laid out, but only a few; then it is many times slower.
 * So there are several, and flag sets with different keys mostly meet different ones.
 */
const COPIERS: readonly ((values: Values) => Values)[] = [
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
]

/**
 * An object to be copied for each answer: to copy one as a whole costs a fraction of what it costs
 * to add name after name.
 */
export class ValuesTemplate {
  readonly names: readonly string[]
  /** The value of each name. */
  readonly values: readonly FlagValue[]
  /** undefined: it would be slow to copy. */
  readonly #object: Values | undefined
  readonly #copy: (values: Values) => Values

  constructor(names: readonly string[], values: readonly FlagValue[]) {
    this.names = names
    this.values = values
    this.#object = names.length > MAX_FAST ? undefined : laidOut(names, values)
    this.#copy = COPIERS[names.length % COPIERS.length] ?? ((object) => ({ ...object }))
  }

  /** Whether it has these names, in this order. */
  hasNames(names: readonly string[]): boolean {
    const own = this.names
    return own.length === names.length && own.every((name, index) => name === names[index])
  }

  /** A new object that inherits nothing. */
  copy(): Values {
    if (this.#object !== undefined) {
      return Object.setPrototypeOf(this.#copy(this.#object), NO_PROTOTYPE)
    }
    const copy: Values = Object.create(null)
    for (const [index, name] of this.names.entries()) copy[name] = this.values[index] ?? null
    return copy
  }
}

/** Reading JSON lays an object out for fast access; setting name after name does not. */
function laidOut(names: readonly string[], values: readonly FlagValue[]): Values {
  const members = names.map((name, at) => `${JSON.stringify(name)}:${JSON.stringify(values[at])}`)
  const object: Values = JSON.parse(`{${members.join(',')}}`)
  for (const [index, name] of names.entries()) object[name] = values[index] ?? null
  if (names.length > MAX_READ_FAST) layOutAsPrototype(object)
  return object
}

/** Engines lay the prototypes of objects out for fast access, however many names they have. */
function layOutAsPrototype(object: Values): void {
  const heir: Values = Object.create(object)
  // Not at once: only for code that has run some times do they take the trouble.
  for (let turn = 0; turn < 200; turn += 1) void heir['anything']
}
