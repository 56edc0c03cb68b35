import type { TestProject } from 'vitest/node'
import { startForTests } from '../../../scripts/test-programs.ts'
import { PgBouncerProcess } from './pgbouncer-process.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of PgBouncer before the PostgreSQL server; empty if one of them does not run. */
    readonly pgBouncerUrl: string
  }
}

/**
 * Starts PgBouncer before the PostgreSQL server of the test run. Returns the function that stops it.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { postgresUrl } = project.getProvidedContext()
  const running =
    postgresUrl === ''
      ? undefined
      : await startForTests({ name: 'pgbouncer', start: () => PgBouncerProcess.start(postgresUrl) })
  project.provide('pgBouncerUrl', running?.url ?? '')
  return async () => running?.stop()
}
