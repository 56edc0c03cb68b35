import { type Evaluation, evaluateSome, onlyFlags, valuesOf } from '@ff/core/all-flags'
import { changedValues } from '@ff/core/changes'
import { evaluateSomeTimed } from '../evaluation/evaluated.ts'
import type { Audience } from './audience.ts'
import type { FlagUpdate, Message } from './flag-update.ts'
import { contextOfText } from './held-context.ts'
import type { Moment } from './moment.ts'

/** How much text is kept for others who may be told the same. */
const MAX_KEPT_LENGTH = 1024 * 1024

interface DifferenceParts {
  readonly before: Moment
  readonly after: Moment
  /** The flags that may answer differently. */
  readonly flagKeys: readonly string[]
}

/** What contexts are told that have come to the same answers. */
interface Told {
  readonly message: Message
  /** The flags whose values are told, and how they were evaluated. */
  readonly evaluation: Omit<Evaluation, 'context'>
}

/**
 * What lies between two moments, for one context after another. Contexts with the same answers
 * share what they receive; sessions of the audience that was asked for last share its evaluation.
 */
export class Difference {
  readonly #parts: DifferenceParts
  /** By the answers before and after; null: their values are the same. */
  readonly #told = new Map<string, Told | null>()
  #toldLength = 0
  #last: { readonly audience: Audience; readonly update: FlagUpdate | undefined } | undefined

  constructor(parts: DifferenceParts) {
    this.#parts = parts
  }

  /** Undefined: nothing differs. */
  of(audience: Audience): FlagUpdate | undefined {
    if (this.#parts.flagKeys.length === 0) return undefined
    if (this.#last?.audience !== audience) {
      this.#last = { audience, update: this.#evaluate(audience) }
    }
    return this.#last.update
  }

  #evaluate({ text }: Audience): FlagUpdate | undefined {
    const { before, after, flagKeys } = this.#parts
    const context = contextOfText(text)
    const old = evaluateSome(before.flagSet, flagKeys, context, before.now)
    const { evaluation, micros } = evaluateSomeTimed(after.flagSet, flagKeys, context, after.now)
    const answers = `${old.codes.join()} ${evaluation.codes.join()}`
    let told = this.#told.get(answers)
    if (told === undefined) {
      told = this.#compare(old, evaluation)
      this.#keep(answers, told)
    }
    if (told === null) return undefined
    const evaluated = {
      flagSet: after.flagSet,
      context,
      evaluation: { ...told.evaluation, context },
      micros,
    }
    return { message: told.message, full: false, evaluated }
  }

  #compare(old: Evaluation, evaluation: Evaluation): Told | null {
    const { flags, removed } = changedValues(valuesOf(old), valuesOf(evaluation))
    if (removed.length === 0 && Object.keys(flags).length === 0) return null
    const { version } = this.#parts.after.flagSet
    const gone = removed.length === 0 ? '' : `,"removed":${JSON.stringify(removed)}`
    const text = `{"type":"flags","flags":${JSON.stringify(flags)},"version":${version},"full":false${gone}}`
    // It is kept for other contexts with the same answers: the context itself must not be.
    const { context: _, ...kept } = onlyFlags(evaluation, (key) => Object.hasOwn(flags, key))
    return { message: { text }, evaluation: kept }
  }

  #keep(answers: string, told: Told | null): void {
    this.#toldLength += answers.length + (told?.message.text.length ?? 0)
    if (this.#toldLength > MAX_KEPT_LENGTH) {
      this.#told.clear()
      this.#toldLength = 0
    }
    this.#told.set(answers, told)
  }
}
