import { describe, expect, it } from 'vitest'
import { CoalescedTask } from './coalesced-task.ts'

function controlled() {
  const runs: { resolve: () => void; reject: (error: Error) => void }[] = []
  const refresh = new CoalescedTask(
    () => new Promise<void>((resolve, reject) => void runs.push({ resolve, reject })),
  )
  return { runs, refresh }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('CoalescedTask', () => {
  it('A coalesced task runs one at a time, and all calls during a run share one further run', async () => {
    const { runs, refresh } = controlled()
    const first = refresh.run()
    const second = refresh.run()
    expect(refresh.run()).toBe(second)
    expect(runs).toHaveLength(1)
    runs[0]?.resolve()
    await first
    await settle()
    expect(runs).toHaveLength(2)
    runs[1]?.resolve()
    await second
    await settle()
    expect(runs).toHaveLength(2)
  })

  it('A coalesced task rejects the calls that requested a failed run, and can run again', async () => {
    const { runs, refresh } = controlled()
    const first = refresh.run()
    const second = refresh.run()
    runs[0]?.reject(new Error('away'))
    await expect(first).rejects.toThrow('away')
    await settle()
    runs[1]?.resolve()
    await expect(second).resolves.toBeUndefined()
  })
})
