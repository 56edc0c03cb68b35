/** The key of the names of missing programs in the global object, which set-up files share. */
const MISSING: unique symbol = Symbol.for('ff.missing-programs')

const shared = globalThis as { [MISSING]?: Set<string> }

/** Returns the names of the programs without which some tests were skipped. */
export function missingPrograms(): ReadonlySet<string> {
  shared[MISSING] ??= new Set()
  return shared[MISSING]
}

/**
 * Starts a program for a test run. If it is not installed, resolves with `undefined`, and the tests
 * that need it must be skipped. With `FF_TEST_PROGRAMS=required`, rejects instead.
 */
export async function startUnlessMissing<T>(
  program: string,
  start: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await start()
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing || process.env['FF_TEST_PROGRAMS'] === 'required') throw error
    shared[MISSING] = new Set(missingPrograms()).add(program)
    return undefined
  }
}
