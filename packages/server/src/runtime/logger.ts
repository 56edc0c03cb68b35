/** What happened, and the facts that belong to it; never a secret. */
export type LogFields = Readonly<Record<string, unknown>>

/** The four methods that every well-known logger can be given in. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

const ignore = (): void => undefined

export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
