import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter, TestModule, Vitest } from 'vitest/node'
import { programsNotStarted } from './test-programs.ts'
import { isSlow, SELECTION } from './test-selection.ts'

/**
 * A reporter that prints a line at the end of a test run: the totals, the duration, and what a run of
 * the default tests has left out.
 */
export default class ClosingLine implements Reporter {
  readonly #startedAt = performance.now()
  #vitest: Vitest | undefined

  /** Keeps the object that knows the projects of the run. */
  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  /** Prints the line. */
  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const totals = totalsOf(modules)
    for (const { line, isFailure } of programsNotStarted()) {
      process.stdout.write(`${line}\n`)
      if (!isFailure) continue
      totals.failed += 1
      process.exitCode = 1
    }
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000)
    const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : ''
    const line = `${totals.passed} passed, ${totals.failed} failed${skipped} in ${seconds} s`
    process.stdout.write(`${line}${await this.#rest(modules)}\n`)
  }

  /** Returns what the run has left out; empty if it was not a run of all default tests. */
  async #rest(modules: readonly TestModule[]): Promise<string> {
    const all = (await this.#vitest?.globTestSpecifications()) ?? []
    if (SELECTION !== 'default' || modules.length < all.length) return ''
    const projects = new Set(all.map(({ project }) => project.config.root))
    const files = [...projects].flatMap(slowFilesOf)
    return files.length > 0 ? `; \`pnpm test:slow\` runs another ${files.length} files` : ''
  }
}

function totalsOf(modules: readonly TestModule[]) {
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
  return totals
}

/** Returns the paths of the slow tests of a project. */
function slowFilesOf(root: string): readonly string[] {
  return ['src', 'test'].flatMap((name) => {
    const folder = join(root, name)
    if (!existsSync(folder)) return []
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return files.map((file) => join(name, file)).filter(isSlow)
  })
}
