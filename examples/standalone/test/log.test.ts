import { afterEach, expect, it } from 'vitest'
import { RunningStandalone } from './running-standalone.ts'

const ADMIN_TOKEN = 'an-administrators-own-token'

let running: RunningStandalone | undefined

afterEach(() => running?.destroy())

/** Starts the server, sends one request to a path without a route, and returns the log. */
async function logOf(env: Readonly<Record<string, string>>): Promise<[string, string | null]> {
  running = new RunningStandalone({ FF_ADMIN_TOKEN: ADMIN_TOKEN, ...env })
  const url = await running.listening()
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  await fetch(`${url}/health`)
  const { headers: answered } = await fetch(`${url}/none?secret`, { headers })
  running.stop('SIGTERM')
  expect(await running.ended).toBe(0)
  return [running.log, answered.get('x-request-id')]
}

it('The log consists of JSON lines by default, with requests of management but not of probes.', async () => {
  const [log, requestId] = await logOf({})
  const lines = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toEqual([
    {
      ...{ level: 'info', message: 'Request handled', requestId, method: 'GET', status: 404 },
      ...{ path: '(no route)', pid: expect.any(Number), durationMs: expect.any(Number) },
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    },
  ])
})

it('FF_LOG_FORMAT and FF_LOG_LEVEL select text lines and the level debug.', async () => {
  const [log, requestId] = await logOf({ FF_LOG_FORMAT: 'pretty', FF_LOG_LEVEL: 'debug' })
  const lines = log.trimEnd().split('\n')
  expect(lines.filter((line) => line.includes('"path":"/health"'))).toEqual([
    expect.stringMatching(/^\[\d\d:\d\d:\d\d\.\d+\] DEBUG: Request handled /),
  ])
  expect(lines.find((line) => line.includes('INFO: Request handled'))).toContain(requestId)
  expect(log).not.toContain('secret')
  expect(log).not.toContain(ADMIN_TOKEN)
})

it('FF_LOG_LEVEL=silent writes no log.', async () => {
  const [log, requestId] = await logOf({ FF_LOG_LEVEL: 'silent' })
  expect(log).toBe('')
  expect(requestId).not.toBe(null)
})
