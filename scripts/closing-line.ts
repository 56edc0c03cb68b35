import type { Reporter, TestModule } from 'vitest/node'

/** The key in the global object that is `true` if the tests that need Redis could not run. */
export const REDIS_IS_MISSING: unique symbol = Symbol.for('ff.test-redis-is-missing')

/** A reporter that prints a line with the totals at the end of a test run. */
export default class ClosingLine implements Reporter {
  /** Prints the totals. */
  onTestRunEnd(modules: readonly TestModule[]): void {
    const totals = { passed: 0, failed: 0, skipped: 0 }
    for (const module of modules) {
      const before = totals.failed
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state !== 'pending') totals[state] += 1
      }
      // A file that fails to load has no tests but counts as a failure.
      if (module.state() === 'failed' && totals.failed === before) totals.failed += 1
    }
    if ((globalThis as { [REDIS_IS_MISSING]?: boolean })[REDIS_IS_MISSING] === true) {
      process.stdout.write(
        'The tests with Redis were skipped: install redis-server, or set FF_TEST_REDIS_URL.\n',
      )
    }
    const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : ''
    process.stdout.write(`${totals.passed} passed, ${totals.failed} failed${skipped}\n`)
  }
}
