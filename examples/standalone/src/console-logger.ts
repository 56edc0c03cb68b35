import type { LogFields, Logger } from '@ff/server'

/** A logger that writes warnings and errors to standard error, one line of JSON each. */
export const consoleLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message, fields) => write('warn', message, fields),
  error: (message, fields) => write('error', message, fields),
}

function write(level: string, message: string, fields: LogFields = {}): void {
  const line = { time: new Date().toISOString(), level, message, ...fields }
  process.stderr.write(`${JSON.stringify(line, plainErrors)}\n`)
}

function plainErrors(_name: string, value: unknown): unknown {
  return value instanceof Error ? { message: value.message, stack: value.stack } : value
}
