import type { Clock } from '../clock.ts'

interface AdmissionParts {
  readonly clock: Clock
  /** How many may come in a second. */
  readonly perSecond: number
}

/** For whom there is no room, or who is far down the queue. */
const LONGEST_WAIT_SECONDS = 60

/**
 * Lets so many come in a second, and no more than a quarter of these at one moment: what they
 * all ask for at once would otherwise keep everybody else waiting. Whoever is refused gets a
 * place in a queue that nobody keeps, and so the time at which it is their turn: a crowd comes
 * back spread out, in the order of arrival.
 */
export class Admission {
  readonly #clock: Clock
  readonly #perSecond: number
  readonly #burst: number
  #permits: number
  /** How many of those who were refused have not had their turn. */
  #queue = 0
  #countedAt: number

  constructor({ clock, perSecond }: AdmissionParts) {
    this.#clock = clock
    this.#perSecond = perSecond
    this.#burst = Math.max(1, Math.ceil(perSecond / 4))
    this.#permits = this.#burst
    this.#countedAt = clock.now()
  }

  /** 0: come in. Else after how many whole seconds to come again. */
  take(): number {
    this.#count()
    if (this.#permits >= 1) {
      this.#permits -= 1
      return 0
    }
    this.#queue += 1
    const turn = Math.ceil(this.#queue / this.#perSecond)
    return turn <= LONGEST_WAIT_SECONDS ? turn : spreadSeconds()
  }

  #count(): void {
    const now = this.#clock.now()
    const seconds = Math.max(0, now - this.#countedAt) / 1000
    this.#countedAt = now
    this.#permits = Math.min(this.#burst, this.#permits + seconds * this.#perSecond)
    this.#queue = Math.max(0, this.#queue - seconds * this.#perSecond)
  }
}

/** After how many seconds to come again where nobody knows: not all at the same time. */
export function spreadSeconds(): number {
  return 1 + Math.floor(Math.random() * LONGEST_WAIT_SECONDS)
}
