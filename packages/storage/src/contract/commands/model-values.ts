import fc from 'fast-check'
import type { Records } from '../../ports/records.ts'
import type { Storage, StorageSession } from '../../ports/storage.ts'

/** An operation on a store. The report of a failed test shows its name and its input. */
export interface Command<Session = Storage> {
  readonly name: string
  readonly input: unknown
  readonly run: (session: Session) => Promise<unknown>
}

/** A command that can run inside a transaction. */
export type SessionCommand = Command<StorageSession>

/** Creates a command that can run inside a transaction. */
export function command(name: string, input: unknown, run: SessionCommand['run']): SessionCommand {
  return { name, input, run }
}

/** The ids of environments in commands. */
export const ENVIRONMENTS = ['environment-1', 'environment-2'] as const
/** The ids of records and definitions in commands. */
export const IDS = ['id-1', 'id-2', 'id-3', 'id-4', 'id-5'] as const

/** The timestamp of publications and deletions in commands. */
export const AT = '2026-01-01T00:00:00.000Z'
const TIMES = [AT, '2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z'] as const

// Few distinct values make it likely that several commands affect the same record.

/** Generates an id of a record or a definition. */
export const id = fc.constantFrom(...IDS)
/** Generates the id of an environment. */
export const environment = fc.constantFrom(...ENVIRONMENTS)
/** Generates the id of a parent record. */
export const parent = fc.constantFrom('parent-1', 'parent-2')
/** Generates a key. */
export const key = fc.constantFrom('a', 'b', 'B', 'a%b')
/** Generates a timestamp. */
export const time = fc.constantFrom(...TIMES)
const noNul = (text: string) => !text.includes('\0')
/** Generates text that every store can save. */
export const text = fc.oneof(
  fc.constantFrom('', 'Aa', 'aB', 'é', 'É', '😀', '\uFFFD', '_'),
  fc.string({ unit: 'binary', maxLength: 8 }).filter(noNul),
)
/** Generates text that can contain U+0000 and unpaired surrogates. */
export const anyText = fc.string({
  unit: fc.constantFrom('a', 'é', '😀', '\0', '\ud83d', '\ude00', '\uFFFD'),
  maxLength: 4,
})
/** Generates a value or `undefined`. */
export const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
/** Generates a value or `null`. */
export const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
/** Generates a JSON object. */
export const json = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map((value): Records['auditEvent']['payload'] => JSON.parse(JSON.stringify(value)))
