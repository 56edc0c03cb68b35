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

/** The default logger: writes warnings and errors to the console of the platform. */
export const consoleLogger: Logger = {
  ...silentLogger,
  // biome-ignore lint/suspicious/noConsole: an application without a logger sees problems here
  warn: (message, fields) => console.warn(`ff: ${message}`, ...toArguments(fields)),
  // biome-ignore lint/suspicious/noConsole: see above
  error: (message, fields) => console.error(`ff: ${message}`, ...toArguments(fields)),
}

function toArguments(fields: LogFields = {}): readonly LogFields[] {
  return Object.keys(fields).length === 0 ? [] : [fields]
}

/** Returns `true` if a logger has the method of `silentLogger` for a level. */
export function isDiscarded(logger: Logger, level: keyof Logger): boolean {
  return logger[level] === silentLogger[level]
}
