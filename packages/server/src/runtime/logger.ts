/** The fields of a log message; never contain a secret. */
export type LogFields = Readonly<Record<string, unknown>>

/** The four methods that all well-known loggers have. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

const ignore = (): void => undefined

/** Logs nothing. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
