import type { CompiledFlag } from './flag.ts'
import { servedBy } from './outcome.ts'
import type { FlagValue, FlagValues } from './value.ts'
import { ValuesTemplate } from './values-template.ts'

/**
 * Turns the codes of all flags of a set into values and JSON text. What would otherwise have to be
 * fetched from one flag after the other lies here side by side.
 */
export class FlagSetView {
  /** The values and the JSON members of all flags; those of one flag begin at its offset. */
  readonly #values: readonly FlagValue[]
  readonly #members: readonly string[]
  readonly #offsets: Int32Array
  readonly #names: readonly string[]
  /** For the view of the next version too, if that has the same names. */
  readonly template: ValuesTemplate

  constructor(flags: readonly CompiledFlag[], template: ValuesTemplate | undefined) {
    const names = flags.map(({ key }) => key)
    this.#values = flags.flatMap(({ values }) => values)
    this.#members = flags.flatMap(({ members }, at) => {
      return at === 0 ? members.map((member) => member.slice(1)) : members
    })
    this.#offsets = new Int32Array(flags.length)
    for (let at = 1; at < flags.length; at += 1) {
      this.#offsets[at] = (this.#offsets[at - 1] ?? 0) + (flags[at - 1]?.values.length ?? 0)
    }
    this.template = template?.hasNames(names) === true ? template : new ValuesTemplate(names)
    this.#names = this.template.names
  }

  /** All are set, for to set only what differs would be slower: which it is, nobody can foresee. */
  values(codes: Int32Array, start: number): FlagValues {
    const values = this.template.copy()
    for (let at = 0; at < this.#names.length; at += 1) {
      const value = this.#values[(this.#offsets[at] ?? 0) + servedBy(codes[start + at] ?? 0)]
      values[this.#names[at] ?? ''] = value ?? null
    }
    return values
  }

  json(codes: Int32Array, start: number): string {
    let text = '{'
    for (let at = 0; at < this.#names.length; at += 1) {
      text += this.#members[(this.#offsets[at] ?? 0) + servedBy(codes[start + at] ?? 0)] ?? ''
    }
    return `${text}}`
  }
}
