import {
  type EvaluationContext,
  evaluateAll,
  evaluateSome,
  type FlagSet,
  type FlagValues,
  jsonOf,
  onlyFlags,
  valuesOf,
} from '@ff/core'
import { changedValues, type ValueChanges } from '@ff/core/changes'
import type { EnvironmentScope } from '../access/sdk-keys.ts'
import { type Evaluated, evaluateAllTimed, evaluateSomeTimed } from '../evaluation/evaluated.ts'

/** What a client is told: everything, or what differs from what it was told before. */
export interface FlagUpdate {
  /** Flag key → value, as JSON text. */
  readonly json: string
  /** Keys of flags that are gone. */
  readonly removed: readonly string[]
  readonly version: number
  readonly full: boolean
  /** How the flags of `json` were evaluated. */
  readonly evaluated: Evaluated
}

/** Why the server ends a session: its key is no longer valid, or the server stops. */
export type EndReason = 'keyRefused' | 'goingAway'

/** How a client is kept up to date. */
export type LiveTransport = 'ws' | 'poll'

/** How a transport delivers what its session has to say. */
export interface SessionSink {
  readonly transport: LiveTransport
  /** False when the client cannot take it now; `resume` makes up for it later. */
  deliver(update: FlagUpdate): boolean
  end(reason: EndReason): void
}

interface SessionParts {
  readonly scope: EnvironmentScope
  readonly context: EvaluationContext
  readonly flagSet: FlagSet
  readonly now: number
  readonly sink: SessionSink
}

/**
 * One live client. It keeps no values: what the client was told is what its context evaluates
 * to under the flag set and at the instant of the last delivery, and can be had again.
 */
export class FlagSession {
  readonly scope: EnvironmentScope
  readonly #sink: SessionSink
  #context: EvaluationContext
  /** The environment's present flag set. */
  #flagSet: FlagSet
  /** What the client was told is the evaluation under this flag set… */
  #toldFlagSet: FlagSet
  /** …at this instant. */
  #toldAt: number
  #owes: 'nothing' | 'changes' | 'everything' = 'nothing'

  /** A session whose client already has, or does not need, the values of this moment. */
  constructor({ scope, context, flagSet, now, sink }: SessionParts) {
    this.scope = scope
    this.#sink = sink
    this.#context = context
    this.#flagSet = flagSet
    this.#toldFlagSet = flagSet
    this.#toldAt = now
  }

  get transport(): LiveTransport {
    return this.#sink.transport
  }

  /** The environment's flag set, as of the last `update`. */
  get flagSet(): FlagSet {
    return this.#flagSet
  }

  /** Whether the client could not take the last delivery. */
  get isStale(): boolean {
    return this.#owes !== 'nothing'
  }

  /** Tells everything. */
  announce(now: number): void {
    const evaluated = evaluateAllTimed(this.#flagSet, this.#context, now)
    const { version } = this.#flagSet
    const json = jsonOf(evaluated.evaluation)
    const taken = this.#sink.deliver({ json, removed: [], version, full: true, evaluated })
    if (taken) this.#told(now)
    else this.#owes = 'everything'
  }

  /** From now on evaluates for another context, and tells everything. */
  replaceContext(context: EvaluationContext, now: number): void {
    this.#context = context
    this.announce(now)
  }

  /**
   * The environment's flag set is now this one, and these flags may have another value than at
   * the last update. Tells what differs; nothing when nothing does.
   */
  update(flagSet: FlagSet, changed: readonly string[], now: number): void {
    this.#flagSet = flagSet
    if (this.#owes !== 'nothing') return
    if (changed.length === 0) {
      this.#told(now)
      return
    }
    const before = valuesOf(evaluateSome(this.#toldFlagSet, changed, this.#context, this.#toldAt))
    const after = evaluateSomeTimed(flagSet, changed, this.#context, now)
    this.#tell(changedValues(before, valuesOf(after.evaluation)), after, now)
  }

  /** The client can take something again: tells it what it has missed, as one difference. */
  resume(now: number): void {
    if (this.#owes === 'nothing') return
    if (this.#owes === 'everything') {
      this.announce(now)
      return
    }
    const before = valuesOf(evaluateAll(this.#toldFlagSet, this.#context, this.#toldAt))
    const after = evaluateAllTimed(this.#flagSet, this.#context, now)
    this.#tell(changedValues(before, valuesOf(after.evaluation)), after, now)
  }

  end(reason: EndReason): void {
    this.#sink.end(reason)
  }

  #tell({ flags, removed }: ValueChanges, after: Evaluated, now: number): void {
    const differs = removed.length > 0 || Object.keys(flags).length > 0
    const { version } = this.#flagSet
    const json = JSON.stringify(flags)
    const told = differs ? onlyOf(after, flags) : after
    const update = { json, removed, version, full: false, evaluated: told }
    const taken = !differs || this.#sink.deliver(update)
    if (taken) this.#told(now)
    else this.#owes = 'changes'
  }

  #told(now: number): void {
    this.#toldFlagSet = this.#flagSet
    this.#toldAt = now
    this.#owes = 'nothing'
  }
}

/** What was evaluated, without the flags that are not among these values. */
function onlyOf(evaluated: Evaluated, values: FlagValues): Evaluated {
  const evaluation = onlyFlags(evaluated.evaluation, (key) => Object.hasOwn(values, key))
  return { ...evaluated, evaluation }
}
