import { FlagError } from '@ff/core'

/** The number of seconds after which a refused request can be repeated. */
const RETRY_AFTER_SECONDS = 1

/** The maximum number of previews of an organization: one runs, and one waits. */
const MAX_PREVIEWS = 2

interface Line {
  count: number
  /** Resolves when the last preview of the line has ended. */
  last: Promise<unknown>
}

/** Runs the previews of each organization one after another. */
export class PreviewQueue {
  readonly #lines = new Map<string, Line>()

  /**
   * Runs a preview when the previous one of the organization has ended. Throws `RATE_LIMITED` if
   * another preview is waiting already.
   */
  async run<T>(orgId: string, preview: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(orgId) ?? { count: 0, last: Promise.resolve() }
    if (line.count === MAX_PREVIEWS) throw tooMany()
    this.#lines.set(orgId, line)
    line.count += 1
    const own = line.last.then(preview)
    line.last = own.catch(ignore)
    try {
      return await own
    } finally {
      line.count -= 1
      if (line.count === 0) this.#lines.delete(orgId)
    }
  }
}

function ignore(): void {
  // The caller of the preview receives its result or its error.
}

function tooMany(): FlagError {
  const message = 'Another preview of this organization is waiting already. Try again later.'
  return new FlagError('RATE_LIMITED', message, { details: { seconds: RETRY_AFTER_SECONDS } })
}
