import type { FlagSet } from '@ff/core'
import type { FlagSetScope } from '../access/sdk-keys.ts'
import type { Clock } from '../runtime/clock.ts'
import { Slice } from '../runtime/time-slice.ts'
import type { FlagSession } from './flag-session.ts'
import { Moment } from './moment.ts'
import type { SessionRegistry } from './session-registry.ts'

/** On its way through the sessions of an environment and a kind of SDK key. */
interface Round {
  readonly scope: FlagSetScope
  /** What those who are still to come are told of. */
  flagSet: FlagSet
  readonly sessions: Iterator<FlagSession>
  /** Whether something newer came on the way, of which not everybody was told. */
  isOvertaken: boolean
}

/**
 * Tells the clients of environments what is new there, in slices, between which requests are
 * answered. Something newer is told from where a round is, so that it never waits for one to end.
 */
export class Rounds {
  readonly #registry: SessionRegistry
  readonly #clock: Clock
  readonly #rounds = new Map<string, Round>()
  #isWaiting = false

  constructor(registry: SessionRegistry, clock: Clock) {
    this.#registry = registry
    this.#clock = clock
  }

  /** This is the flag set of the scope now, or steps on. */
  tell(scope: FlagSetScope, flagSet: FlagSet): void {
    const name = `${scope.kind} ${scope.environmentId}`
    const round = this.#rounds.get(name)
    if (round === undefined) this.#rounds.set(name, this.#begin(scope, flagSet))
    else {
      round.flagSet = flagSet
      round.isOvertaken = true
    }
    this.#wait()
  }

  stop(): void {
    this.#rounds.clear()
  }

  #begin(scope: FlagSetScope, flagSet: FlagSet): Round {
    const sessions = this.#registry.of(scope)[Symbol.iterator]()
    return { scope, flagSet, sessions, isOvertaken: false }
  }

  #goOn(): void {
    this.#isWaiting = false
    const slice = new Slice()
    for (const [name, round] of this.#rounds) {
      const present = Moment.of(round.flagSet, this.#clock.now())
      const isOver = tellSome(round.sessions, present, slice)
      this.#rounds.delete(name)
      if (isOver && !round.isOvertaken) continue
      // Behind the others: a large environment does not hold up the small ones.
      const next = isOver ? this.#begin(round.scope, round.flagSet) : round
      this.#rounds.set(name, next)
      if (!isOver) break
    }
    if (this.#rounds.size > 0) this.#wait()
  }

  /** Before the first slice, too: what was taken over just now has taken its time already. */
  #wait(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    setImmediate(() => this.#goOn())
  }
}

/** True when everybody was told. */
function tellSome(sessions: Iterator<FlagSession>, present: Moment, slice: Slice): boolean {
  while (slice.take()) {
    const next = sessions.next()
    if (next.done === true) return true
    next.value.update(present)
  }
  return false
}
