import { afterEach, describe, expect, it } from 'vitest'
import type { InstanceReport, InstanceReports } from '../ports/instance-reports.ts'
import { newId } from './samples/sample-fields.ts'

/** The reports of instances, without any report. */
export interface InstanceReportsUnderTest {
  readonly instanceReports: InstanceReports
  /** Closes the reports and releases their resources. */
  readonly close: () => Promise<void>
}

/**
 * Defines the vitest tests that all implementations of instance reports must pass. Each call of
 * `create` returns an implementation without reports.
 */
export function instanceReportsContract(
  name: string,
  create: () => Promise<InstanceReportsUnderTest>,
): void {
  describe(`the instance reports contract: ${name}`, () => {
    const opened: InstanceReportsUnderTest[] = []
    const open = async () => {
      const underTest = await create()
      opened.push(underTest)
      return underTest.instanceReports
    }

    afterEach(async () => {
      for (const { close } of opened.splice(0)) await close()
    })

    describeReporting(open)
    describeCounting(open)
    describeWithdrawing(open)
  })
}

function describeReporting(open: () => Promise<InstanceReports>): void {
  it('The last report of each instance about an environment is returned unchanged, with its age', async () => {
    const reports = await open()
    const [one, two, environmentId] = [newId(), newId(), newId()]
    const first = reportOf(environmentId, { version: 7, ws: 3 })
    const reached = { from: 1_900_000_000_000, counts: [0, 2, 0, 1] }
    const second = { ...reportOf(environmentId, { version: 8, ws: 2 }), reached }
    await reports.report(one, [first])
    await reports.report(two, [second])
    const listed = await reports.list(environmentId)
    expect(byInstance(listed)).toEqual(byInstance([withId(one, first), withId(two, second)]))
    for (const { ageMs } of listed) {
      expect(ageMs).toBeGreaterThanOrEqual(0)
      expect(ageMs).toBeLessThan(5000)
    }
  })

  it('A report replaces the earlier report of its instance about the same environment only', async () => {
    const reports = await open()
    const [one, two, live, staging] = [newId(), newId(), newId(), newId()]
    await reports.report(one, [reportOf(live, { ws: 1 }), reportOf(staging, { ws: 2 })])
    await reports.report(two, [reportOf(live, { ws: 3 })])
    await reports.report(one, [reportOf(live, { ws: 4 })])
    expect(await socketsIn(reports, live)).toEqual({ [one]: 4, [two]: 3 })
    expect(await socketsIn(reports, staging)).toEqual({ [one]: 2 })
  })

  it('An environment without reports has an empty list', async () => {
    const reports = await open()
    await reports.report(newId(), [reportOf(newId(), {})])
    await reports.report(newId(), [])
    expect(await reports.list(newId())).toEqual([])
  })
}

function describeCounting(open: () => Promise<InstanceReports>): void {
  it('An instance that reports counts as running, with or without reports, until it withdraws all', async () => {
    const reports = await open()
    const [one, two, live] = [newId(), newId(), newId()]
    expect(await reports.report(one, [])).toBe(1)
    expect(await reports.report(two, [reportOf(live, {})])).toBe(2)
    expect(await reports.report(one, [])).toBe(2)
    await reports.withdraw(two, [live])
    expect(await reports.report(one, [])).toBe(2)
    await reports.withdraw(two)
    expect(await reports.report(one, [])).toBe(1)
  })
}

function describeWithdrawing(open: () => Promise<InstanceReports>): void {
  it('An instance withdraws its reports about some environments, or all its reports', async () => {
    const reports = await open()
    const [one, two, live, staging] = [newId(), newId(), newId(), newId()]
    const both = [reportOf(live, { ws: 1 }), reportOf(staging, { ws: 1 })]
    await reports.report(one, both)
    await reports.report(two, both)
    await reports.withdraw(one, [live])
    expect(await socketsIn(reports, live)).toEqual({ [two]: 1 })
    expect(await socketsIn(reports, staging)).toEqual({ [one]: 1, [two]: 1 })
    await reports.withdraw(two)
    expect(await socketsIn(reports, live)).toEqual({})
    expect(await socketsIn(reports, staging)).toEqual({ [one]: 1 })
  })

  it('A withdrawal without reports has no effect, and an instance can report again', async () => {
    const reports = await open()
    const [one, live] = [newId(), newId()]
    await reports.withdraw(one)
    await reports.withdraw(one, [live])
    await reports.report(one, [reportOf(live, { ws: 5 })])
    expect(await socketsIn(reports, live)).toEqual({ [one]: 5 })
  })
}

function reportOf(environmentId: string, fields: Partial<InstanceReport>): InstanceReport {
  const numbers = { version: 1, ws: 0, poll: 0, behind: 0, applied: null }
  const byVersion = [
    { version: 1, clients: 2 },
    { version: 3, clients: 1 },
  ]
  return { environmentId, ...numbers, byVersion, ...fields }
}

const withId = (instanceId: string, report: InstanceReport) => ({ ...report, instanceId, ageMs: 0 })

function byInstance(reports: Awaited<ReturnType<InstanceReports['list']>>) {
  return Object.fromEntries(reports.map(({ instanceId, ageMs: _, ...rest }) => [instanceId, rest]))
}

async function socketsIn(reports: InstanceReports, environmentId: string) {
  const listed = await reports.list(environmentId)
  return Object.fromEntries(listed.map(({ instanceId, ws }) => [instanceId, ws]))
}
