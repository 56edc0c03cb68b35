import type { TestProject } from 'vitest/node'
import { startUnlessMissing } from '../../../scripts/missing-programs.ts'
import { PgBouncerProcess } from './pgbouncer-process.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of PgBouncer before the PostgreSQL server; empty if it is not installed. */
    readonly pgBouncerUrl: string
  }
}

/**
 * Starts PgBouncer before the PostgreSQL server of the test run, which must run. Returns the
 * function that stops it.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { postgresUrl } = project.getProvidedContext()
  const running = await startUnlessMissing('pgbouncer', () => PgBouncerProcess.start(postgresUrl))
  project.provide('pgBouncerUrl', running?.url ?? '')
  return async () => running?.stop()
}
