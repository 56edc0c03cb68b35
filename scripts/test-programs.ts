/** The key of the programs that did not start, in the global object that set-up files share. */
const NOT_STARTED: unique symbol = Symbol.for('ff.programs-not-started')

/** A program that a test run needs and that did not start. */
export interface NotStarted {
  readonly program: string
  /** A line for the end of the run. */
  readonly line: string
  /** True if the run must fail. Otherwise the tests with the program are skipped. */
  readonly isFailure: boolean
}

const shared = globalThis as { [NOT_STARTED]?: NotStarted[] }

/** Returns the programs that the test run needs and that did not start. */
export function programsNotStarted(): readonly NotStarted[] {
  return shared[NOT_STARTED] ?? []
}

/**
 * Starts a program for a test run. If that is impossible, resolves with `undefined`, and the end of
 * the run says why. The tests that need the program must then be skipped or fail. The run fails too,
 * unless the program is only not installed and `FF_TEST_PROGRAMS` is not `required`.
 */
export async function startForTests<T>(
  program: string,
  start: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await start()
  } catch (error) {
    shared[NOT_STARTED] = [...programsNotStarted(), notStarted(program, error)]
    return undefined
  }
}

function notStarted(program: string, error: unknown): NotStarted {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
  if (isMissing && process.env['FF_TEST_PROGRAMS'] !== 'required') {
    const line = `The tests with ${program} were skipped, because it is not installed.`
    return { program, line, isFailure: false }
  }
  const reason = error instanceof Error ? error.message.trim() : String(error)
  return { program, line: `${program} did not start: ${reason}`, isFailure: true }
}
