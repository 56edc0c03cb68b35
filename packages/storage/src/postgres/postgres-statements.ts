import type { PoolClient, QueryResult } from 'pg'
import { dataRefused } from '../ports/record-errors.ts'
import type { SqlRow, SqlStatement } from '../sql/sql-driver.ts'

/** The result of a statement. */
export type PostgresResult = QueryResult<SqlRow>

/** The object ids of the types whose values pg would return as text: `bigint` and `numeric`. */
const NUMBERS: readonly number[] = [20, 1700]
const BOOLEAN = 16

/** Parsers of column values. Columns have texts, numbers and booleans only. */
export const TYPES = { getTypeParser: (type: number) => parserOf(type) }

/** Sends statements without waiting for their results, together with others of this moment. */
export function send(
  client: PoolClient,
  statements: readonly SqlStatement[],
  timeoutMs?: number,
): readonly Promise<PostgresResult>[] {
  const { stream } = client.connection
  stream.cork()
  process.nextTick(() => stream.uncork())
  return statements.map(({ sql, parameters }) => {
    const limit = timeoutMs === undefined ? {} : { query_timeout: timeoutMs }
    return client.query<SqlRow>({ text: sql, values: [...parameters], ...limit })
  })
}

/** Waits for all results. Throws the first error: after it, PostgreSQL refuses all statements. */
export async function resultsOf(
  sent: readonly Promise<PostgresResult>[],
): Promise<readonly PostgresResult[]> {
  await Promise.allSettled(sent)
  return Promise.all(sent)
}

/** Throws `INVALID_REQUEST` if a parameter contains U+0000, which PostgreSQL cannot store. */
export function assertStorable({ parameters }: SqlStatement): void {
  if (parameters.some((value) => typeof value === 'string' && value.includes('\0'))) {
    throw dataRefused(new Error('A text contains U+0000, which PostgreSQL cannot store.'))
  }
}

function parserOf(type: number): (text: string) => string | number | boolean {
  if (NUMBERS.includes(type) || type === 23 || type === 701) return Number
  if (type === BOOLEAN) return (text) => text === 't'
  return (text) => text
}
