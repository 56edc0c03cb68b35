import { describe, expect, it } from 'vitest'
import { MemoryInstanceReports } from './memory-instance-reports.ts'

const report = (environmentId: string) => ({
  ...{ environmentId, version: 1, ws: 1, poll: 0, behind: 0, applied: 0 },
  byVersion: [{ version: 1, clients: 1 }],
})

describe('MemoryInstanceReports', () => {
  it('A report in memory has the time since it was received as its age', async () => {
    let now = 1000
    const reports = new MemoryInstanceReports(() => now)
    await reports.report('one', [report('live')])
    now += 7000
    expect(await reports.list('live')).toMatchObject([{ instanceId: 'one', ageMs: 7000 }])
    await reports.report('one', [report('live')])
    expect(await reports.list('live')).toMatchObject([{ instanceId: 'one', ageMs: 0 }])
  })

  it('An instance that has not reported for 15 seconds does not count as running', async () => {
    let now = 1000
    const reports = new MemoryInstanceReports(() => now)
    await reports.report('killed', [report('live')])
    now += 14_999
    expect(await reports.report('one', [])).toBe(2)
    now += 1
    expect(await reports.report('one', [])).toBe(1)
  })

  it('A report in memory that is not replaced is deleted', async () => {
    let now = 1000
    const reports = new MemoryInstanceReports(() => now)
    await reports.report('killed', [report('live'), report('staging')])
    now += 60_000
    await reports.report('one', [report('live')])
    expect((await reports.list('live')).map(({ instanceId }) => instanceId)).toEqual(['one'])
    expect(await reports.list('staging')).toEqual([])
  })
})
