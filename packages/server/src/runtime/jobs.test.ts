import { FlagError } from '@ff/core'
import { describe, expect, it } from 'vitest'
import { FakeClock, settle } from '../../test/fake-clock.ts'
import { type Job, Jobs } from './jobs.ts'
import { silentLogger } from './logger.ts'

describe('Jobs', () => {
  const started = (run: () => Promise<void>) => {
    const clock = new FakeClock()
    const errors: string[] = []
    const log = (message: string) => void errors.push(message)
    const logger = { ...silentLogger, error: log, info: log }
    const job: Job = { name: 'count', everyMs: 1000, run }
    const jobs = new Jobs([job], { clock, logger })
    jobs.start()
    return { clock, errors, job, jobs }
  }

  it('A job runs after its interval, and again after the interval that follows each run', async () => {
    let runs = 0
    const { clock } = started(async () => {
      runs += 1
    })
    expect(runs).toBe(0)
    await clock.advance(1000)
    expect(runs).toBe(1)
    await clock.advance(3000)
    expect(runs).toBe(4)
  })

  it('A job that keeps failing logs its error once, is retried, and logs when it succeeds again', async () => {
    let isBroken = true
    const { clock, errors, jobs } = started(async () => {
      if (isBroken) throw new Error('broken')
    })
    await clock.advance(2500)
    expect(errors).toEqual(['The job "count" failed and will be retried'])
    expect(jobs.failures.get('count')).toBeGreaterThan(1)
    isBroken = false
    await clock.advance(1000)
    expect(errors).toEqual([
      'The job "count" failed and will be retried',
      'The job "count" succeeded again',
    ])
  })

  it('A job does not log that the store is unavailable', async () => {
    const { clock, errors } = started(async () => {
      throw new FlagError('UNAVAILABLE', 'away')
    })
    await clock.advance(2500)
    expect(errors).toEqual([])
  })

  it('A job never runs twice at the same time, even if several runs are requested', async () => {
    let running = 0
    let most = 0
    let runs = 0
    const { jobs, job } = started(async () => {
      running += 1
      most = Math.max(most, running)
      await settle()
      running -= 1
      runs += 1
    })
    await Promise.all([jobs.runNow(job), jobs.runNow(job), jobs.runNow(job)])
    expect([runs, most]).toEqual([3, 1])
  })

  it('Stopping the jobs waits for the current run and starts no other', async () => {
    let ended = 0
    const { clock, jobs, job } = started(async () => {
      await settle()
      ended += 1
    })
    void jobs.runNow(job)
    await jobs.stop()
    const endedByStop = ended
    await clock.advance(10_000)
    await jobs.runNow(job)
    expect([endedByStop <= 1, ended]).toEqual([true, endedByStop])
    expect(clock.timers).toBe(0)
  })
})
