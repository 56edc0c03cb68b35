import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { newPostgresSchema } from '../../test/postgres-store.ts'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { postgresTables } from '../postgres/postgres-tables.ts'
import { sqliteTables } from '../sqlite/sqlite-tables.ts'
import { runMigrations, SCHEMA } from './migrate.ts'
import { insertPage, PAGE_LENGTH, PAGE_ROWS, pagesOf, type TableRow } from './table-pages.ts'
import { loadShapes, type TableDatabase } from './table-shapes.ts'

const TABLE = 'ff_version'
const COLUMNS = ['client_version', 'environment_id', 'event_id', 'flags', 'published_at']
const columns = [...COLUMNS, 'segments', 'version']

/** Returns a row of the table of versions. */
function version(environmentId: string, number: number, flags = '[]'): TableRow {
  return [null, environmentId, null, flags, '', '[]', number]
}

const rowCounts = (pages: readonly (readonly TableRow[])[]) => pages.map(({ length }) => length)

/** Reads the rows of the table of versions, page by page. */
async function readPages(database: TableDatabase): Promise<(readonly TableRow[])[]> {
  const shapes = (await loadShapes(database, SCHEMA)).filter(({ name }) => name === TABLE)
  const pages: (readonly TableRow[])[] = []
  for await (const { rows } of pagesOf(database, shapes)) pages.push(rows)
  return pages
}

it.each(['SQLite', 'PostgreSQL'])(
  'Pages of %s have every row once, in the order of a key with several columns, and a limited size',
  async (name) => {
    const tables =
      name === 'SQLite'
        ? sqliteTables({ path: join(await temporaryFolder(), 'flags.db') })
        : postgresTables({ url: (await newPostgresSchema()).url })
    await tables.create(async (connection) => {
      const database = { connection, dialect: tables.dialect }
      await runMigrations(connection, tables.dialect)
      // By code point, not by the rules of a language. Numbers are not compared as text.
      const environments = ['A', 'Z', 'a', 'é', '\u{1f600}']
      const rows = environments.flatMap((each) =>
        Array.from({ length: 250 }, (_, n) => version(each, n + 1)),
      )
      await insertPage(database, { table: TABLE, columns, rows: rows.toReversed() })
      const pages = await readPages(database)
      expect(pages.flat()).toEqual(rows)
      expect(rowCounts(pages)).toEqual([PAGE_ROWS, PAGE_ROWS, 250, 0])

      const text = () => randomBytes(750_000).toString('base64')
      const large = [PAGE_LENGTH, 1, 1, 1, 1, 1].map((factor, n) =>
        version('\u{1f600} large', n, factor === 1 ? text() : 'x'.repeat(factor + 1)),
      )
      await insertPage(database, { table: TABLE, columns, rows: large })
      const counts = rowCounts(await readPages(database))
      expect(counts).toEqual([PAGE_ROWS, PAGE_ROWS, 250, 1, 4, 1, 0])
    })
  },
)
