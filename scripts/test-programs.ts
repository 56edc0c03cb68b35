/** The key of the programs that did not start, in the global object that set-up files share. */
const NOT_STARTED: unique symbol = Symbol.for('ff.programs-not-started')

/** A program that a test run needs and that did not start. */
export interface NotStarted {
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

/** How to start a program for a test run. */
export interface TestProgram<T> {
  readonly name: string
  /** True if the run fails without the program, and not only with `FF_TEST_PROGRAMS=required`. */
  readonly isRequired?: boolean
  /** Rejects with `ENOENT` if the program is not installed. */
  readonly start: () => Promise<T>
}

/**
 * Starts a program for a test run. If that is impossible, resolves with `undefined`, and the end of
 * the run says why. The tests that need the program must then be skipped or fail. The run fails too,
 * unless the program is not required and only not installed.
 */
export async function startForTests<T>(program: TestProgram<T>): Promise<T | undefined> {
  try {
    return await program.start()
  } catch (error) {
    shared[NOT_STARTED] = [...programsNotStarted(), notStarted(program, error)]
    return undefined
  }
}

function notStarted(
  { name, isRequired = false }: TestProgram<unknown>,
  error: unknown,
): NotStarted {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
  if (isMissing && !isRequired && process.env['FF_TEST_PROGRAMS'] !== 'required') {
    const line = `The tests with ${name} were skipped, because it is not installed.`
    return { line, isFailure: false }
  }
  const reason = error instanceof Error ? error.message.trim() : String(error)
  return { line: `${name} did not start: ${reason}`, isFailure: true }
}
