import { FlagError } from '@ff/core'
import { describe, expect, it } from 'vitest'
import { MemoryLeases } from '../../../storage/src/memory/memory-leases.ts'
import { FakeClock, settle } from '../../test/fake-clock.ts'
import { JobLease } from './job-lease.ts'
import { type Job, Jobs } from './jobs.ts'
import { silentLogger } from './logger.ts'

describe('Jobs', () => {
  const started = (run: () => Promise<void>) => {
    const clock = new FakeClock()
    const errors: string[] = []
    const log = (message: string) => void errors.push(message)
    const logger = { ...silentLogger, error: log, info: log }
    const job: Job = { name: 'count', everyMs: 1000, isShared: false, run }
    const lease = new JobLease({
      storage: new MemoryLeases(),
      jobs: 'on',
      holder: 'a',
      clock,
      logger,
    })
    const jobs = new Jobs([job], { clock, logger, lease })
    void jobs.start()
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

describe('shared jobs', () => {
  /** Starts instances with one job, and counts its runs in each instance. */
  const startAll = async (count: number, isShared: boolean) => {
    const clock = new FakeClock()
    const storage = new MemoryLeases(() => clock.monotonicNow())
    const runs: number[] = Array.from({ length: count }, () => 0)
    const instances = runs.map((_, at) => {
      const run = async () => {
        runs[at] = (runs[at] ?? 0) + 1
      }
      const job: Job = { name: 'count', everyMs: 1000, isShared, run }
      const options = { clock, logger: silentLogger }
      const lease = new JobLease({ ...options, storage, jobs: 'on', holder: `${at}` })
      return { job, jobs: new Jobs([job], { ...options, lease }) }
    })
    for (const { jobs } of instances) await jobs.start()
    return { clock, runs, instances }
  }

  it('One instance runs a shared job, and each instance runs a job that is not shared', async () => {
    const shared = await startAll(3, true)
    const own = await startAll(3, false)
    for (const { clock } of [shared, own]) await clock.advance(10_000)
    expect(shared.runs[0]).toBeGreaterThanOrEqual(9)
    expect(shared.runs.slice(1)).toEqual([0, 0])
    for (const runs of own.runs) expect(runs).toBeGreaterThanOrEqual(9)
  })

  it('Instances without shared jobs claim no lease', async () => {
    const { clock } = await startAll(1, false)
    // The only timer is that of the job.
    expect(clock.timers).toBe(1)
  })

  it('Another instance runs the shared jobs within seconds after the holder has stopped', async () => {
    const { clock, runs, instances } = await startAll(2, true)
    await clock.advance(3000)
    await instances[0]?.jobs.stop()
    const before = [...runs]
    await clock.advance(7000)
    expect(runs[0]).toBe(before[0])
    expect(runs[1]).toBeGreaterThan(0)
  })

  it('A shared job that is run now needs no lease', async () => {
    const { runs, instances } = await startAll(2, true)
    const [, second] = instances
    if (second !== undefined) await second.jobs.runNow(second.job)
    expect(runs).toEqual([0, 1])
  })
})
