import type { Reporter, TestModule } from 'vitest/node'
import { programsNotStarted } from './test-programs.ts'

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
    for (const { line, isFailure } of programsNotStarted()) {
      process.stdout.write(`${line}\n`)
      if (!isFailure) continue
      totals.failed += 1
      process.exitCode = 1
    }
    const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : ''
    process.stdout.write(`${totals.passed} passed, ${totals.failed} failed${skipped}\n`)
  }
}
