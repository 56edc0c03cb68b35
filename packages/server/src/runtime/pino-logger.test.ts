import { type DestinationStream, pino } from 'pino'
import { expect, it } from 'vitest'
import { isDiscarded } from './logger.ts'
import { pinoLogger } from './pino-logger.ts'

function written() {
  const lines: Record<string, unknown>[] = []
  const stream: DestinationStream = { write: (text) => void lines.push(JSON.parse(text)) }
  return { lines, stream }
}

it('pinoLogger writes message, level and fields, and a cause with its stack and its own cause.', () => {
  const { lines, stream } = written()
  const logger = pinoLogger(pino({ level: 'debug', base: null, timestamp: false }, stream))
  logger.debug('One')
  logger.info('Two', { status: 200 })
  logger.warn('Three', { cause: 'text' })
  logger.error('Four', { path: '/a', cause: new Error('outer', { cause: new Error('inner') }) })
  const stack = expect.stringMatching(/^Error: outer\n.*caused by: Error: inner\n/s)
  expect(lines).toEqual([
    { level: 20, msg: 'One' },
    { level: 30, msg: 'Two', status: 200 },
    { level: 40, msg: 'Three', err: 'text' },
    { level: 50, msg: 'Four', path: '/a', err: { type: 'Error', message: 'outer: inner', stack } },
  ])
})

it('pinoLogger discards the levels that pino does not write.', () => {
  const { lines, stream } = written()
  const logger = pinoLogger(pino({ level: 'warn' }, stream))
  const levels = ['debug', 'info', 'warn', 'error'] as const
  expect(levels.filter((level) => isDiscarded(logger, level))).toEqual(['debug', 'info'])
  logger.info('Not written')
  expect(lines).toEqual([])
  const silent = pinoLogger(pino({ level: 'silent' }, stream))
  expect(levels.filter((level) => isDiscarded(silent, level))).toEqual(levels)
})

it('pinoLogger accepts a logger without isLevelEnabled.', () => {
  const calls: unknown[] = []
  const note = (...call: unknown[]) => void calls.push(call)
  const logger = pinoLogger({ debug: note, info: note, warn: note, error: note })
  logger.debug('Now', { at: 1 })
  expect(calls).toEqual([[{ at: 1 }, 'Now']])
})
