import { type Logger, pinoLogger } from '@ff/server'
import { type LoggerOptions, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { PinoPretty } from 'pino-pretty'
import type { LogConfig } from './config.ts'
import { withVariables } from './failure.ts'

const STDERR = 2

/**
 * Creates a logger that writes to standard error, one line for each message: JSON, or text that is
 * easier to read. Without a format, it writes text if standard error is a terminal.
 */
export function createLogger({ level, format }: LogConfig): Logger {
  const isPretty = format === 'pretty' || (format === undefined && process.stderr.isTTY)
  const options: LoggerOptions = {
    level,
    messageKey: MESSAGE_KEY,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    formatters: { level: (label) => ({ level: label }) },
  }
  // Lines are written synchronously, so that none is lost when the process ends.
  const destination = isPretty ? prettyStream() : pino.destination({ dest: STDERR, sync: true })
  return pinoLogger(pino(options, destination))
}

/** Returns the fields of an error, which names variables instead of options. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const fields = stdSerializers.err(error)
  const { message, stack } = fields
  return { ...fields, message: withVariables(message), stack: withVariables(stack) }
}

const MESSAGE_KEY = 'message'

function prettyStream() {
  return PinoPretty({
    destination: STDERR,
    sync: true,
    colorize: process.stderr.isTTY,
    messageKey: MESSAGE_KEY,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid',
    singleLine: true,
  })
}
