import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a PostgreSQL server with a superuser, for one test run; empty if it does not run. */
    readonly postgresUrl: string
    /** The start of the names of all schemas of one test run. They are dropped after it. */
    readonly postgresSchemas: string
  }
}

/** A schema of the database, for one store. */
export interface PostgresSchema {
  /** The URL with which all tables are in this schema. */
  readonly url: string
  /** Ends all database sessions of this URL. */
  readonly disconnect: () => Promise<void>
  /** Removes the data, after which the schema must not be used. */
  readonly drop: () => Promise<void>
}

/** A schema without records, which can have the tables of an earlier store. */
export interface ReservedPostgresSchema extends PostgresSchema {
  /** Creates the schema if it does not exist. */
  readonly create: () => Promise<void>
}

/** Returns the URL of the PostgreSQL server of the test run. Throws if it does not run. */
export function postgresUrl(): string {
  const url = inject('postgresUrl')
  if (url) return url
  throw new Error('This test needs PostgreSQL, which did not start for this test run.')
}

/** The names of emptied schemas. Emptying tables takes less time than creating them. */
const emptied: string[] = []

/** Creates a schema without tables. */
export async function createPostgresSchema(): Promise<PostgresSchema> {
  const name = newName()
  await runOnPostgres(`create schema ${name}`)
  return { ...schemaOf(name), drop: () => runOnPostgres(`drop schema ${name} cascade`) }
}

/** Reserves a schema. After its `drop`, another store can reserve it. */
export function reservePostgresSchema(): ReservedPostgresSchema {
  const name = emptied.pop() ?? newName()
  const create = () => runOnPostgres(`create schema if not exists ${name}`)
  const drop = async () => {
    await emptyTables(name)
    emptied.push(name)
  }
  return { ...schemaOf(name), create, drop }
}

/** Deletes the records of all tables of a schema, in the database of the test run or of a URL. */
export async function emptyTables(schema: string, url?: string): Promise<void> {
  await runOnPostgres(
    `do $$ declare each record; begin
      for each in select tablename from pg_tables
        where schemaname = '${schema}' and tablename <> 'ff_migration' loop
        execute format('delete from ${schema}.%I', each.tablename);
      end loop;
    end $$`,
    url,
  )
}

/** Runs one statement on the database of the test run, or on the database of a URL. */
export async function runOnPostgres(statement: string, url?: string): Promise<void> {
  await readFromPostgres(statement, url)
}

/** Runs one statement like `runOnPostgres`, and returns its rows. */
export async function readFromPostgres(
  statement: string,
  url = postgresUrl(),
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

function newName(): string {
  return inject('postgresSchemas') + randomUUID().replaceAll('-', '')
}

function schemaOf(name: string): Pick<PostgresSchema, 'url' | 'disconnect'> {
  const url = new URL(postgresUrl())
  url.searchParams.set('options', `-c search_path=${name}`)
  url.searchParams.set('application_name', name)
  const disconnect = () =>
    runOnPostgres(`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'`)
  return { url: url.href, disconnect }
}
