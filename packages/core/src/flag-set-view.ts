import type { CompiledFlag } from './flag.ts'
import { servedBy } from './outcome.ts'
import { outcomesOf } from './rule.ts'
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
  /** For each flag which of its variations has the value that is in the template. */
  readonly #usual: Int32Array
  /** Room for the numbers of the flags whose value is another. */
  readonly #others: Int32Array
  /** For the view of the next version too, if that has the same names. */
  readonly template: ValuesTemplate

  constructor(flags: readonly CompiledFlag[], template: ValuesTemplate | undefined) {
    const names = flags.map(({ key }) => key)
    this.#names = names
    this.#values = flags.flatMap(({ values }) => values)
    this.#members = flags.flatMap(({ members }) => members)
    this.#offsets = new Int32Array(flags.length)
    for (let at = 1; at < flags.length; at += 1) {
      this.#offsets[at] = (this.#offsets[at - 1] ?? 0) + (flags[at - 1]?.values.length ?? 0)
    }
    const canServe = template?.hasNames(names) === true
    this.template = canServe ? template : new ValuesTemplate(names, flags.map(usualValue))
    this.#usual = Int32Array.from(flags, ({ values }, at) => {
      return values.indexOf(this.template.values[at] ?? null)
    })
    this.#others = new Int32Array(flags.length)
  }

  values(codes: Int32Array, start: number): FlagValues {
    const values = this.template.copy()
    const count = this.#findOthers(codes, start)
    for (let other = 0; other < count; other += 1) {
      const at = this.#others[other] ?? 0
      const value = this.#values[(this.#offsets[at] ?? 0) + servedBy(codes[start + at] ?? 0)]
      values[this.#names[at] ?? ''] = value ?? null
    }
    return values
  }

  /** Nobody can foresee which flags these are, so nothing here branches on it. */
  #findOthers(codes: Int32Array, start: number): number {
    let count = 0
    for (let at = 0; at < this.#names.length; at += 1) {
      const difference = servedBy(codes[start + at] ?? 0) ^ (this.#usual[at] ?? 0)
      this.#others[count] = at
      count += (difference | -difference) >>> 31
    }
    return count
  }

  json(codes: Int32Array, start: number): string {
    let text = '{'
    for (let at = 0; at < this.#names.length; at += 1) {
      if (at > 0) text += ','
      text += this.#members[(this.#offsets[at] ?? 0) + servedBy(codes[start + at] ?? 0)] ?? ''
    }
    return `${text}}`
  }
}

/** What a flag serves to many: by a last rule for everybody, or else by default. */
function usualValue({ rules, fallback }: CompiledFlag): FlagValue {
  const last = rules.at(-1)
  const isForAll = last?.conditions.length === 0 && last.definition.segmentId === null
  const [outcome] = isForAll ? outcomesOf(last) : []
  return (outcome ?? fallback).variation?.value ?? null
}
