/** The tests that a run selects. */
export type Selection = 'default' | 'slow' | 'all'

const SELECTIONS: readonly Selection[] = ['default', 'slow', 'all']

/** The selection of this run, from the variable `FF_TESTS`. */
export const SELECTION = selectionOf(process.env['FF_TESTS'])

/** The least number of runs of a property, unless all of them are fewer. */
const LEAST_RUNS = 30

const EMBEDDED_STORES = ['memory', 'SQLite'] as const
const DATABASES = ['PostgreSQL'] as const

/** The name of a store that tests of all stores use. */
export type StoreName = (typeof EMBEDDED_STORES | typeof DATABASES)[number]

/** Returns the names of the stores for the tests of all stores. */
export function storeNames(selection = SELECTION): readonly StoreName[] {
  if (selection === 'default') return EMBEDDED_STORES
  return selection === 'slow' ? DATABASES : [...EMBEDDED_STORES, ...DATABASES]
}

/**
 * Returns the number of runs of a property that has `all` runs at most. By default, that is a tenth of
 * them and at least `least`, which is greater if the test expects rare cases.
 */
export function runs(all: number, least = LEAST_RUNS, selection = SELECTION): number {
  return selection === 'default' ? Math.min(all, Math.max(least, Math.ceil(all / 10))) : all
}

/**
 * Returns the glob patterns of the test files in the folder of a project. Property tests, which then
 * have all runs, and tests of stores, which then use the databases, are slow tests too.
 */
export function testFiles(ending: 'ts' | 'tsx', selection = SELECTION) {
  const slow = [`test/drills/**/*.test.${ending}`, `{src,test}/**/*.slow.test.${ending}`]
  if (selection === 'slow') {
    return { include: [...slow, `{src,test}/**/*.{property,stores}.test.${ending}`], exclude: [] }
  }
  return {
    include: [`{src,test}/**/*.test.${ending}`],
    exclude: selection === 'default' ? slow : [],
  }
}

/** Returns true if the slow tests have a file, whose path is relative to the folder of its project. */
export function isSlow(path: string): boolean {
  return /^test[/\\]drills[/\\].*\.test\.tsx?$|\.(?:slow|property|stores)\.test\.tsx?$/.test(path)
}

/** Throws if the text is not the name of a selection. */
function selectionOf(text = 'default'): Selection {
  const selection = SELECTIONS.find((each) => each === text)
  if (selection !== undefined) return selection
  throw new Error(`FF_TESTS must be ${SELECTIONS.join(', ')} or absent (got ${text}).`)
}
