/** The maximum number of remembered messages. */
const MAX_MESSAGES = 100

/**
 * Returns a function that writes each error to the console as a warning. It writes a message only
 * once, because a client repeats a failed attempt.
 */
export function createWarner(): (error: unknown) => void {
  const written = new Set<string>()
  return (error) => {
    const message = error instanceof Error ? error.message : String(error)
    if (written.has(message) || written.size >= MAX_MESSAGES) return
    written.add(message)
    // biome-ignore lint/suspicious/noConsole: an application without `onError` sees problems here
    console.warn(`@ff/client: ${message}`)
  }
}
