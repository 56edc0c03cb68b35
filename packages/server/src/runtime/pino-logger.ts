import { type LogFields, type Logger, silentLogger } from './logger.ts'

/** The part of a pino logger that `pinoLogger` uses. The logger of Fastify has it, too. */
export interface PinoLike extends Record<keyof Logger, (fields: object, message: string) => void> {
  isLevelEnabled?(level: string): boolean
}

/**
 * Adapts a pino logger (version 8 to 10). A `cause` becomes the field `err`, which pino writes with
 * its stack. The level that pino has at the time of the call decides which messages are prepared,
 * so set the level before.
 *
 * @example
 * createFlagServer({ ...sqlite({ path }), logger: pinoLogger(pino({ level: 'info' })) })
 */
export function pinoLogger(pino: PinoLike): Logger {
  const methodOf = (level: keyof Logger): Logger[keyof Logger] => {
    if (pino.isLevelEnabled?.(level) === false) return silentLogger[level]
    return (message, fields = {}) => pino[level](toPinoFields(fields), message)
  }
  return {
    debug: methodOf('debug'),
    info: methodOf('info'),
    warn: methodOf('warn'),
    error: methodOf('error'),
  }
}

function toPinoFields({ cause, ...fields }: LogFields): object {
  return cause === undefined ? fields : { ...fields, err: cause }
}
