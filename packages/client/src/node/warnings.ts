/** The maximum number of remembered kinds, and of the texts of each kind. */
const MAX_KINDS = 100
const MAX_TEXTS = 10

/**
 * Returns a function that writes each error to the console as a warning. It writes a text only once,
 * because a client repeats a failed attempt, and a limited number of texts of each kind, because
 * the texts of an application can always differ. The kind is the code or the name of the error.
 * Refusals of the SDK key are always written.
 */
export function createWarner(): (error: unknown) => void {
  const written = new Map<unknown, Set<string>>()
  return (error) => {
    const { code, name, message = String(error) } = Object(error) as Partial<ErrorWithCode>
    const kind = code ?? name
    if (kind !== 'refused') {
      const texts = written.get(kind) ?? new Set()
      if (texts.has(message) || texts.size >= MAX_TEXTS) return
      written.set(kind, texts.add(message))
      for (const [first] of written) if (written.size > MAX_KINDS) written.delete(first)
    }
    // biome-ignore lint/suspicious/noConsole: an application without `onError` sees problems here
    console.warn(`@ff/client: ${message}`)
  }
}

interface ErrorWithCode extends Error {
  readonly code: unknown
}
