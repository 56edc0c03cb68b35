import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { fillStore } from '../../test/filled-store.ts'
import { runOnPostgres } from '../../test/postgres-schema.ts'
import { newPostgresSchema, openPostgres } from '../../test/postgres-store.ts'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { ENVIRONMENT_ID, writePair } from '../../test/write-pair.ts'
import { newId } from '../contract/samples/sample-fields.ts'
import { sample } from '../contract/samples/samples.ts'
import { activateStore, COPY_HOLDER, JOBS_LEASE } from '../ports/leases.ts'
import type { Storage } from '../ports/storage.ts'
import { postgresTables } from '../postgres/postgres.ts'
import { runMigrations } from '../sql/migrate.ts'
import { plain } from '../sql/sql-driver.ts'
import { sqlite, sqliteTables } from '../sqlite/sqlite.ts'
import { copyStore, restoreBackup, type StoredTables, writeBackup } from './backup.ts'

const folder = mkdtempSync(join(tmpdir(), 'ff-backup-'))
/** A data file with data of every kind, and its backup. */
const filled = join(folder, 'filled.db')
const backup = join(folder, 'filled.backup')

beforeAll(async () => {
  const { storage } = sqlite({ path: filled })
  await fillStore(storage)
  await storage.close()
  await writeBackup(sqliteTables({ path: filled }), backup)
})
afterAll(() => rmSync(folder, { recursive: true }))

type Rows = Readonly<Record<string, readonly unknown[]>>

/** Opens a data file without the code under test. */
function inFile<T>(path: string, work: (database: DatabaseSyncInstance) => T): T {
  const database = new DatabaseSync(path)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** Returns all rows of all tables of a data file. */
function rowsIn(path: string): Rows {
  return inFile(path, (database) => {
    const tables = database.prepare(`select name from sqlite_master where type = 'table'`).all()
    const all = tables.map(({ name }) => {
      const rows = database.prepare(`select * from ${name}`).all()
      return [String(name), rows.map((row) => JSON.stringify(row)).sort()] as const
    })
    return Object.fromEntries(all)
  })
}

/** Returns a file in a new folder that does not exist. */
const newFile = async (name: string) => join(await temporaryFolder(), name)

const newSqlite = async () => sqliteTables({ path: await newFile('flags.db') })
const newPostgres = async () => postgresTables({ url: (await newPostgresSchema()).url })

/** Opens a new store and its tables. */
async function openStore(name: 'SQLite' | 'PostgreSQL') {
  const path = await newFile('flags.db')
  const { url } = await newPostgresSchema()
  const { storage } = name === 'SQLite' ? sqlite({ path }) : openPostgres({ url })
  await storage.migrate()
  onTestFinished(() => storage.close())
  return { storage, tables: name === 'SQLite' ? sqliteTables({ path }) : postgresTables({ url }) }
}

/** Writes a backup with these lines. */
async function fileOf(lines: readonly string[]): Promise<string> {
  const path = await newFile('changed.backup')
  writeFileSync(path, gzipSync(`${lines.join('\n')}\n`))
  return path
}

/** Activates a store that was created from another, and closes it. */
async function activate(storage: Storage): Promise<void> {
  await storage.migrate()
  expect(await activateStore(storage)).toBe(true)
  await storage.close()
}

const linesOf = (path: string) => gunzipSync(readFileSync(path)).toString().trimEnd().split('\n')

describe('writeBackup and restoreBackup', () => {
  it('A backup contains every table of a data file, whichever migration has created it', async () => {
    const counts = await writeBackup(sqliteTables({ path: filled }), await newFile('all.backup'))
    const { ff_migration: _, ...rows } = rowsIn(filled)
    const expected = Object.entries(rows).map(([table, { length }]) => [table, length])
    expect(counts).toEqual(Object.fromEntries(expected))
    expect(Object.keys(counts).length).toBeGreaterThan(25)
    expect(counts['ff_flag']).toBeGreaterThan(1000)
  })

  it('A backup that travels from SQLite to PostgreSQL and back has equal rows', async () => {
    const { url } = await newPostgresSchema()
    const database = postgresTables({ url })
    const restored = await restoreBackup(backup, database)
    await activate(openPostgres({ url }).storage)
    const again = await newFile('again.backup')
    expect(await writeBackup(database, again)).toEqual(restored.rows)
    expect(linesOf(again).slice(1)).toEqual(linesOf(backup).slice(1))
    const path = await newFile('flags.db')
    await restoreBackup(again, sqliteTables({ path }))
    await activate(sqlite({ path }).storage)
    expect(readdirSync(join(path, '..'))).toEqual(['flags.db'])
    expect(rowsIn(path)).toEqual(rowsIn(filled))
    expect([statSync(path), statSync(again)].map(({ mode }) => mode & 0o777)).toEqual([
      0o600, 0o600,
    ])
  })

  it.each(['SQLite', 'PostgreSQL'] as const)(
    'All reads of the tables of %s see the state of one moment',
    async (name) => {
      const { storage, tables } = await openStore(name)
      await writePair(storage, newId())
      const counts = await tables.read(async (connection) => {
        const count = async () => {
          const [rows] = await connection.run([plain('select count(*) as n from ff_segment')])
          return rows?.[0]?.['n']
        }
        const before = await count()
        await writePair(storage, newId())
        return [before, await count()]
      })
      expect(counts).toEqual([1, 1])
      expect((await storage.list('segment', {})).total).toBe(2)
    },
  )

  it.each(['SQLite', 'PostgreSQL'] as const)(
    'A backup of %s that is created during writes is consistent at one moment',
    async (name) => {
      const { storage, tables } = await openStore(name)
      let isOver = false
      const write = async () => {
        while (!isOver) await writePair(storage, newId())
      }
      const writing = [write(), write(), write()]
      await expect.poll(async () => (await storage.list('segment', {})).total).toBeGreaterThan(20)
      const target = await newFile('during.backup')
      const { ff_segment: segments = 0 } = await writeBackup(tables, target)
      isOver = true
      await Promise.all(writing)
      expect((await storage.list('segment', {})).total).toBeGreaterThan(segments)
      const restored = await newFile('restored.db')
      await restoreBackup(target, sqliteTables({ path: restored }))
      await assertConsistent(sqlite({ path: restored }).storage, segments)
    },
  )

  it('A store of an older schema can be backed up, and its backup is migrated when it is restored', async () => {
    const old = await newSqlite()
    const { dialect } = old
    await old.create(async (connection) => {
      await runMigrations(connection, dialect, 3)
      await connection.run([
        plain(
          `insert into ff_environment values ('e', 'p', 'live', 'Live', 1, 'none', '', '', null, 1)`,
        ),
      ])
    })
    const path = await newFile('old.backup')
    await writeBackup(old, path)
    for (const tables of [await newSqlite(), await newPostgres()]) {
      await restoreBackup(path, tables)
      await tables.read(async (connection) => {
        const [rows] = await connection.run([plain('select is_production from ff_environment')])
        expect(Boolean(rows?.[0]?.['is_production'])).toBe(true)
      })
    }
  })

  it('An existing file is never replaced, neither by a backup nor by a restore', async () => {
    const path = await newFile('mine')
    writeFileSync(path, 'mine')
    const exists = { code: 'CONFLICT', message: `The file ${path} already exists.` }
    await expect(writeBackup(sqliteTables({ path: filled }), path)).rejects.toMatchObject(exists)
    await expect(restoreBackup(backup, sqliteTables({ path }))).rejects.toMatchObject(exists)
    expect(readFileSync(path, 'utf8')).toBe('mine')
  })

  it('A database with tables of a store is not empty, and is not changed by a restore', async () => {
    const { url } = await newPostgresSchema()
    await runOnPostgres('create table ff_flag (id text primary key)', url)
    const notEmpty = { code: 'CONFLICT', message: expect.stringContaining('is not empty') }
    await expect(restoreBackup(backup, postgresTables({ url }))).rejects.toMatchObject(notEmpty)
    await runOnPostgres('drop table ff_flag', url)
    expect(await postgresTables({ url }).exists()).toBe(false)
  })

  it('A data file that is missing or damaged has no backup', async () => {
    const path = await newFile('flags.db')
    const target = await newFile('bad.backup')
    const code = 'UNAVAILABLE'
    await expect(writeBackup(sqliteTables({ path }), target)).rejects.toMatchObject({ code })
    expect(existsSync(path)).toBe(false)
    const bytes = readFileSync(filled)
    bytes.fill(7, bytes.length / 2, bytes.length / 2 + 20_000)
    writeFileSync(path, bytes)
    await expect(writeBackup(sqliteTables({ path }), target)).rejects.toMatchObject({ code })
    expect(readdirSync(join(target, '..'))).toEqual([])
  })

  it('A table that does not belong to the store is named instead of being left out', async () => {
    const path = await newFile('flags.db')
    writeFileSync(path, readFileSync(filled))
    inFile(path, (database) => database.exec('create table ff_mine (id text primary key)'))
    const refused = writeBackup(sqliteTables({ path }), await newFile('mine.backup'))
    await expect(refused).rejects.toThrow('The table ff_mine does not belong to the store')
  })

  it('A backup whose folder does not exist is refused with its path', async () => {
    const path = join(await temporaryFolder(), 'absent', 'a.backup')
    const refused = writeBackup(sqliteTables({ path: filled }), path)
    await expect(refused).rejects.toThrow(`The file ${path} cannot be written.`)
  })
})

/** Expects that the records, the publications and the audit entries are those of `count` pairs. */
async function assertConsistent(storage: Storage, count: number): Promise<void> {
  await storage.migrate()
  const idsOf = (records: readonly { readonly id: string }[] = []) =>
    records.map(({ id }) => id).sort()
  const ids = idsOf((await storage.list('segment', {})).data)
  const flagSet = await storage.loadFlagSet(ENVIRONMENT_ID)
  expect(ids).toHaveLength(count)
  expect(idsOf((await storage.list('auditEvent', {})).data)).toEqual(ids)
  expect(idsOf(flagSet?.segments)).toEqual(ids)
  expect(flagSet?.version).toBe(count)
  await storage.close()
}

describe('a backup that cannot be restored', () => {
  const lines = () => linesOf(backup)
  const header = (fields: object) => JSON.stringify({ ...JSON.parse(lines()[0] ?? ''), ...fields })
  const replaced = (found: string, by: string) => lines().map((line) => line.replace(found, by))

  async function expectRefusedBy(
    tables: StoredTables,
    path: string,
    reason: string,
  ): Promise<void> {
    await expect(restoreBackup(path, tables)).rejects.toThrow(reason)
    expect(await tables.exists()).toBe(false)
  }

  async function expectRefused(path: string, reason: string): Promise<void> {
    const file = await newFile('flags.db')
    await expectRefusedBy(sqliteTables({ path: file }), path, reason)
    expect(readdirSync(join(file, '..'))).toEqual([])
  }

  it('A truncated backup is refused and changes nothing', async () => {
    const path = await newFile('cut.backup')
    writeFileSync(path, readFileSync(backup).subarray(0, -30))
    await expectRefused(path, 'is damaged or is not a backup: unexpected end of file.')
    const shorter = await fileOf(lines().slice(0, -1))
    await expectRefused(shorter, 'its end is missing.')
    await expectRefusedBy(await newPostgres(), shorter, 'its end is missing.')
  })

  it('A backup with a changed byte or a changed row is refused and changes nothing', async () => {
    const path = await newFile('bit.backup')
    const bytes = readFileSync(backup)
    const middle = bytes.length >> 1
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle)
    writeFileSync(path, bytes)
    await expectRefused(path, 'is damaged or is not a backup')
    const changed = await fileOf(replaced('f-77"', 'f-xx"'))
    await expectRefused(changed, 'the stated SHA-256')
    await expectRefusedBy(await newPostgres(), changed, 'the stated SHA-256')
    const one = lines().findIndex((line) => line.includes('f-77"'))
    await expectRefused(await fileOf(lines().toSpliced(one, 1)), 'the stated SHA-256')
  })

  it('A backup with unknown tables, columns or values is refused and changes nothing', async () => {
    await expectRefused(await fileOf(replaced('"table":"ff_flag"', '"table":"ff_x"')), 'ff_x')
    await expectRefused(await fileOf(replaced('"archived_at"', '"archived_at\\") --"')), 'ff_flag')
    await expectRefused(await fileOf(replaced('f-77"', 'f-77",1')), 'a row does not have')
    await expectRefused(await fileOf([header({}), '[1]']), 'a row does not have')
  })

  it('A backup of a later release is refused and changes nothing', async () => {
    const later = [header({ formatVersion: 2 }), ...lines().slice(1)]
    await expectRefused(await fileOf(later), 'A later release has written the backup')
    const { schema } = JSON.parse(lines()[0] ?? '')
    const migrated = [header({ schema: [...schema, '9999-later'] }), ...lines().slice(1)]
    await expectRefused(await fileOf(migrated), 'unknown migration 9999-later')
  })

  it('A file that is not a backup is refused and changes nothing', async () => {
    const path = await newFile('other')
    await expectRefused(path, `The backup ${path} cannot be read.`)
    for (const bytes of [
      Buffer.of(),
      Buffer.from('text'),
      gzipSync('text'),
      gzipSync('[]\n'),
      gzipSync(Buffer.of(255, 254)),
    ]) {
      writeFileSync(path, bytes)
      await expectRefused(path, 'is damaged or is not a backup')
    }
  })
})

describe('copyStore', () => {
  it('A copy of a data file in PostgreSQL has equal rows', async () => {
    const from = sqliteTables({ path: filled })
    const to = await newPostgres()
    const rows = await copyStore({ from, to, isActive: true })
    const path = await newFile('copied.backup')
    expect(await writeBackup(to, path)).toEqual(rows)
    expect(linesOf(path).slice(1)).toEqual(linesOf(backup).slice(1))
  })

  it('Nobody can take the lease of the jobs in a copy or a restored backup until it is activated', async () => {
    const path = await newFile('flags.db')
    writeFileSync(path, readFileSync(filled))
    const original = sqlite({ path }).storage
    await original.migrate()
    const lease = { name: JOBS_LEASE, holder: 'original', forMs: 3_600_000 }
    await original.claimLease(lease)
    await original.close()
    const from = sqliteTables({ path })
    const target = await newFile('original.backup')
    await writeBackup(from, target)
    for (const create of [
      (to: StoredTables) => copyStore({ from, to }),
      (to: StoredTables) => restoreBackup(target, to),
    ]) {
      const { url } = await newPostgresSchema()
      await create(postgresTables({ url }))
      const { storage } = openPostgres({ url })
      await storage.migrate()
      expect(await storage.findLeaseHolder(JOBS_LEASE)).toBe(COPY_HOLDER)
      expect([await storage.claimLease(lease), await activateStore(storage)]).toEqual([false, true])
      expect(await storage.claimLease({ ...lease, holder: 'other' })).toBe(true)
    }
  })

  it('A copy whose last step fails creates nothing', async () => {
    const beforeCommit = () => Promise.reject(new Error('write EPIPE'))
    for (const to of [await newSqlite(), await newPostgres()]) {
      const copied = copyStore({ from: sqliteTables({ path: filled }), to, beforeCommit })
      await expect(copied).rejects.toThrow('write EPIPE')
      expect(await to.exists()).toBe(false)
    }
  })

  it('Of two simultaneous copies to one database, one succeeds and the other one finds a store', async () => {
    const { url } = await newPostgresSchema()
    const copy = () =>
      copyStore({ from: sqliteTables({ path: filled }), to: postgresTables({ url }) })
    const results = await Promise.allSettled([copy(), copy()])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const refused = results.find(({ status }) => status === 'rejected')
    expect(refused).toMatchObject({ reason: { code: 'CONFLICT' } })
  })

  it('A row that PostgreSQL refuses ends the copy with the name of its table', async () => {
    const path = await newFile('flags.db')
    const { storage } = sqlite({ path })
    await storage.migrate()
    const long = Array.from({ length: 6000 }, () => newId()).join()
    await storage.insert('identity', sample('identity', { subject: long }))
    await storage.close()
    const to = await newPostgres()
    const copied = copyStore({ from: sqliteTables({ path }), to })
    await expect(copied).rejects.toThrow('refuses a row of the table ff_identity')
    expect(await to.exists()).toBe(false)
  })
})
