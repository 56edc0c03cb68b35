import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'

/** A schema of the database, for one store. */
export interface PostgresSchema {
  /** The URL with which all tables are in this schema. */
  readonly url: string
  /** Ends all database sessions of this URL. */
  readonly disconnect: () => Promise<void>
  /** Removes the data, after which the schema must not be used. */
  readonly drop: () => Promise<void>
}

/** The names of emptied schemas. Emptying tables takes less time than creating them. */
const emptied: string[] = []

/** Creates a schema without tables. */
export async function createPostgresSchema(): Promise<PostgresSchema> {
  const name = await newSchema()
  return { ...schemaOf(name), drop: () => runOnPostgres(`drop schema ${name} cascade`) }
}

/** Returns a schema without records, which can have the tables of an earlier store. */
export async function emptyPostgresSchema(): Promise<PostgresSchema> {
  const name = emptied.pop() ?? (await newSchema())
  const drop = async () => {
    await runOnPostgres(`
      do $$ declare each record; begin
        for each in select tablename from pg_tables
          where schemaname = '${name}' and tablename <> 'ff_migration' loop
          execute format('delete from ${name}.%I', each.tablename);
        end loop;
      end $$`)
    emptied.push(name)
  }
  return { ...schemaOf(name), drop }
}

/** Removes all emptied schemas. */
export async function dropEmptiedSchemas(): Promise<void> {
  for (const name of emptied.splice(0)) await runOnPostgres(`drop schema ${name} cascade`)
}

/** Runs one statement on the database of the test run, or on the database of a URL. */
export async function runOnPostgres(statement: string, url?: string): Promise<void> {
  const client = new Client({ connectionString: url ?? inject('postgresUrl') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

async function newSchema(): Promise<string> {
  const name = `ff_test_${randomUUID().replaceAll('-', '')}`
  await runOnPostgres(`create schema ${name}`)
  return name
}

function schemaOf(name: string): Pick<PostgresSchema, 'url' | 'disconnect'> {
  const url = new URL(inject('postgresUrl'))
  url.searchParams.set('options', `-c search_path=${name}`)
  url.searchParams.set('application_name', name)
  const disconnect = () =>
    runOnPostgres(`
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'`)
  return { url: url.href, disconnect }
}
