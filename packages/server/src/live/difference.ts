import type { EvaluationContext } from '@ff/core'
import { type Evaluation, evaluateSome, onlyFlags, valuesOf } from '@ff/core/all-flags'
import { changedValues } from '@ff/core/changes'
import { evaluateSomeTimed } from '../evaluation/evaluated.ts'
import type { FlagUpdate, Message } from './flag-update.ts'
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
  readonly evaluation: Evaluation
}

/**
 * What lies between two moments, for one context after another. Contexts with the same answers
 * share what they are told, and who asks for the context that was asked for last, its evaluation.
 */
export class Difference {
  readonly #parts: DifferenceParts
  /** By the answers before and after; null: their values are the same. */
  readonly #told = new Map<string, Told | null>()
  #toldLength = 0
  #last:
    | { readonly context: EvaluationContext; readonly update: FlagUpdate | undefined }
    | undefined

  constructor(parts: DifferenceParts) {
    this.#parts = parts
  }

  /** Undefined: nothing differs. */
  of(context: EvaluationContext): FlagUpdate | undefined {
    if (this.#parts.flagKeys.length === 0) return undefined
    if (this.#last?.context !== context) this.#last = { context, update: this.#evaluate(context) }
    return this.#last.update
  }

  #evaluate(context: EvaluationContext): FlagUpdate | undefined {
    const { before, after, flagKeys } = this.#parts
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
    return {
      message: { text },
      evaluation: onlyFlags(evaluation, (key) => Object.hasOwn(flags, key)),
    }
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
