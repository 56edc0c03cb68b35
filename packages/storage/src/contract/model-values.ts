import fc from 'fast-check'
import type { Records } from '../ports/records.ts'
import type { Storage, StorageSession } from '../ports/storage.ts'

/** Something to ask of a store; the fields are what a report of a failure shows. */
export interface Command<Session = Storage> {
  readonly name: string
  readonly input: unknown
  readonly run: (session: Session) => Promise<unknown>
}

export type SessionCommand = Command<StorageSession>

export function command(name: string, input: unknown, run: SessionCommand['run']): SessionCommand {
  return { name, input, run }
}

export const ENVIRONMENTS = ['environment-1', 'environment-2'] as const
export const IDS = ['id-1', 'id-2', 'id-3', 'id-4', 'id-5'] as const

export const AT = '2026-01-01T00:00:00.000Z'
const TIMES = [AT, '2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z'] as const

// Few values, so that commands meet: the same ids, keys, names.
export const id = fc.constantFrom(...IDS)
export const environment = fc.constantFrom(...ENVIRONMENTS)
export const parent = fc.constantFrom('parent-1', 'parent-2')
export const key = fc.constantFrom('a', 'b', 'B', 'a%b')
export const time = fc.constantFrom(...TIMES)
const noNul = (text: string) => !text.includes('\0')
export const text = fc.oneof(
  fc.constantFrom('', 'Aa', 'aB', 'é', 'É', '😀', '\uFFFD', '_'),
  fc.string({ unit: 'binary', maxLength: 8 }).filter(noNul),
)
/** Text that not every database can keep, too. */
export const anyText = fc.string({
  unit: fc.constantFrom('a', 'é', '😀', '\0', '\ud83d', '\ude00', '\uFFFD'),
  maxLength: 4,
})
export const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
export const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
export const json = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map((value): Records['auditEvent']['payload'] => JSON.parse(JSON.stringify(value)))
