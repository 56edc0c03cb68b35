/** The fields of a log message. They never contain a secret. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * A logger with the four methods that all common logging libraries provide. A level that is
 * discarded should have the method of `silentLogger`, so that the server does not prepare messages
 * of this level.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

const ignore = (): void => undefined

/** A logger that discards all messages. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** Returns `true` if a logger has the method of `silentLogger` for a level. */
export function isDiscarded(logger: Logger, level: keyof Logger): boolean {
  return logger[level] === silentLogger[level]
}
