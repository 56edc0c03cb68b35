import { expect, it } from 'vitest'
import { report, sized } from '../../../../server/test/drills/scale.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import { addTenants, evaluate } from '../data-file.ts'
import { percentileOf, timed } from '../durations.ts'
import { pause, type ServerProcess, startServer } from '../server-process.ts'

const RESTARTS = sized({ full: 20, small: 2 })
const CALLERS = 8

it('Two instances that are restarted in turn under load fail no evaluation that is repeated once [A11]', {
  timeout: 60_000 + RESTARTS * 10_000,
}, async () => {
  const { url: location } = await newPostgresSchema()
  const { bystanderKey } = await addTenants(location)
  const start = () => startServer(location, { isSilent: true })
  const instances: ServerProcess[] = [await start(), await start()]
  let turn = 0
  let hasEnded = false
  let repeated = 0
  const durations: number[] = []
  const failures: unknown[] = []
  const evaluateAt = async (place: number) => {
    const answer = await evaluate(instances[place]?.url ?? '', bystanderKey)
    if (answer.status !== 200) throw new Error(`The status is ${answer.status}.`)
  }
  /** Evaluates at the next instance, and at the other one if that fails. */
  const evaluateInTurn = async () => {
    turn = 1 - turn
    const other = 1 - turn
    await evaluateAt(turn).catch(() => {
      repeated += 1
      return evaluateAt(other)
    })
  }
  const callers = Array.from({ length: CALLERS }, async () => {
    for (; !hasEnded; await pause(2)) {
      const { ms } = await timed(() =>
        evaluateInTurn().catch((error: unknown) => failures.push(error)),
      )
      durations.push(ms)
    }
  })
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    const stopping = instances[restart % 2]
    stopping?.process.kill('SIGTERM')
    expect(await stopping?.ended, 'the exit code').toBe(0)
    instances[restart % 2] = await start()
    await pause(200)
  }
  hasEnded = true
  await Promise.all(callers)
  expect(failures).toEqual([])
  expect(durations.length).toBeGreaterThan(RESTARTS * 10)
  report(
    `${RESTARTS} restarts of two instances: ${durations.length} evaluations, 0 failed, ${repeated} repeated, ` +
      `p99 ${percentileOf(durations, 99).toFixed(1)} ms`,
  )
})
