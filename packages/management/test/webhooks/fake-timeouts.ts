import { onTestFinished, vi } from 'vitest'

/** Time limits that are reached only when a test advances the time. */
export interface FakeTimeouts {
  /** Advances the time by a number of milliseconds. */
  readonly advance: (ms: number) => void
}

/** Replaces `AbortSignal.timeout` until the end of the test. */
export function useFakeTimeouts(): FakeTimeouts {
  let now = 0
  const timeouts = new Map<AbortController, number>()
  const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const controller = new AbortController()
    timeouts.set(controller, now + ms)
    return controller.signal
  })
  onTestFinished(() => spy.mockRestore())
  return {
    advance: (ms) => {
      now += ms
      for (const [controller, end] of timeouts) {
        if (end > now) continue
        timeouts.delete(controller)
        controller.abort(new DOMException('The time limit is reached.', 'TimeoutError'))
      }
    },
  }
}
