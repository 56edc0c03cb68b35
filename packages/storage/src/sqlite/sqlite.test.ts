import { mkdir, open, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isFlagError } from '@ff/core'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import {
  expectRefusal,
  flagChange,
  flagDefinition,
  METADATA,
} from '../contract/samples/fixtures.ts'
import { newId } from '../contract/samples/sample-fields.ts'
import { SAMPLES, sample } from '../contract/samples/samples.ts'
import { KIND_RULES, type Kind } from '../ports/records.ts'
import type { Storage, StorageSession } from '../ports/storage.ts'
import { columnOf, fieldOf, tableOf } from '../sql/columns.ts'
import { sqlite } from './sqlite.ts'

const PAGE_BYTES = 4096
/** The timeout of the test that damages each page of a data file and then opens the file. */
const EVERY_PAGE_MS = 60_000

async function newPath(): Promise<string> {
  return join(await temporaryFolder(), 'flags.db')
}

async function opened(path: string): Promise<Storage> {
  const { storage } = sqlite({ path })
  onTestFinished(() => storage.close())
  await storage.migrate()
  return storage
}

/** Creates a data file with one flag for each name, closes it, and returns its path. */
async function fileWith(names: readonly string[]): Promise<string> {
  const path = await newPath()
  const { storage } = sqlite({ path })
  await storage.migrate()
  for (const name of names) await storage.insert('flag', sample('flag', { name }))
  await storage.close()
  return path
}

function openDirectly(path: string): DatabaseSyncInstance {
  const database: DatabaseSyncInstance = new DatabaseSync(path)
  onTestFinished(() => {
    if (database.isOpen) database.close()
  })
  return database
}

const permissionsOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

describe('sqlite with a path', () => {
  it('A new data file and its folder are accessible only to the user of the process', async () => {
    const folder = join(await temporaryFolder(), 'data')
    await opened(join(folder, 'flags.db'))
    expect(await permissionsOf(folder)).toBe('700')
    const files = await readdir(folder)
    expect(files.sort()).toEqual(['flags.db', 'flags.db-shm', 'flags.db-wal'])
    for (const file of files) expect(await permissionsOf(join(folder, file))).toBe('600')
  })

  it('An existing folder and data file keep their permissions', async () => {
    const folder = join(await temporaryFolder(), 'data')
    await mkdir(folder, { mode: 0o750 })
    const path = join(folder, 'flags.db')
    await writeFile(path, '', { mode: 0o640 })
    await opened(path)
    expect([await permissionsOf(folder), await permissionsOf(path)]).toEqual(['750', '640'])
  })

  it('A reopened data file in a new folder contains all saved records and versions', async () => {
    const path = join(await temporaryFolder(), 'a', 'b c', 'flags.db')
    const { storage } = sqlite({ path })
    await storage.migrate()
    const records = (Object.keys(SAMPLES) as Kind[]).map((kind) => ({ kind, record: sample(kind) }))
    for (const { kind, record } of records) await storage.insert(kind, record)
    const environmentId = newId()
    await storage.publish(environmentId, [flagChange(flagDefinition())], METADATA)
    await storage.publish(environmentId, [flagChange(flagDefinition({ key: 'another' }))], METADATA)
    const flagSets = [1, 2].map((version) => storage.loadFlagSet(environmentId, version))
    const before = await Promise.all(flagSets)
    await storage.close()
    expect(await readdir(join(path, '..'))).toEqual(['flags.db'])

    const again = await opened(path)
    for (const { kind, record } of records) {
      expect(await again.find(kind, record.id)).toEqual(record)
    }
    expect(await again.loadFlagSet(environmentId, 1)).toEqual(before[0])
    expect(await again.loadFlagSet(environmentId)).toEqual(before[1])
  })

  it('A data file uses write-ahead logging', async () => {
    const database = openDirectly(await fileWith([]))
    expect(database.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' })
  })

  it('A write waits for another writer of the file without blocking the calling thread', async () => {
    const path = await fileWith([])
    const storage = await opened(path)
    const database = openDirectly(path)
    database.exec('begin immediate')
    const inserted = storage.insert('flag', sample('flag'))
    let ticks = 0
    for (; ticks < 10; ticks += 1) await new Promise((resolve) => setTimeout(resolve, 10))
    database.exec('commit')
    await inserted
    expect((await storage.list('flag', {})).total).toBe(1)
  })

  it('Reads continue while a transaction is open', async () => {
    const storage = await opened(await newPath())
    await storage.transaction('lock', async (tx) => {
      await tx.insert('flag', sample('flag'))
      expect((await storage.list('flag', {})).total).toBe(0)
      expect((await tx.list('flag', {})).total).toBe(1)
    })
  })
})

describe('a damaged or invalid data file', () => {
  async function expectUnusable(path: string, reason: RegExp): Promise<void> {
    const { storage } = sqlite({ path })
    const outcome = await storage.migrate().catch((error: unknown) => error)
    expect(isFlagError(outcome) && outcome.code).toBe('UNAVAILABLE')
    expect(String(outcome)).toContain(path)
    expect(String(outcome)).toMatch(reason)
    await expectRefusal(storage.find('flag', newId()), 'UNAVAILABLE')
    await storage.close()
  }

  it('A file that is not a database is refused and not changed', async () => {
    const path = await newPath()
    const text = 'not a database '.repeat(1000)
    await writeFile(path, text)
    await expectUnusable(path, /not a database/)
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  it('A path to a folder instead of a data file is refused', async () => {
    const path = await newPath()
    await mkdir(path)
    await expectUnusable(path, /illegal operation on a directory/)
  })

  it('A data file is refused if its folder cannot be created', async () => {
    const file = await fileWith([])
    await expectUnusable(join(file, 'flags.db'), /EEXIST|ENOTDIR/)
  })

  it('A truncated data file is refused', async () => {
    const path = await fileWith(Array.from({ length: 50 }, (_, index) => `Flag ${index}`))
    await truncate(path, 5 * PAGE_BYTES)
    await expectUnusable(path, /damaged|malformed/)
  })

  it(
    'A data file with an overwritten page either is refused or still returns all records',
    async () => {
      const names = Array.from({ length: 200 }, (_, index) => `Flag ${index}`)
      const intact = await readFile(await fileWith(names))
      let refused = 0
      for (let page = 0; page * PAGE_BYTES < intact.length; page += 1) {
        const path = await newPath()
        await writeFile(path, intact)
        await overwritePage(path, page)
        const { storage } = sqlite({ path })
        try {
          await storage.migrate()
          expect((await storage.list('flag', {})).total).toBe(names.length)
        } catch (error) {
          expect(isFlagError(error) && error.code).toBe('UNAVAILABLE')
          refused += 1
        }
        await storage.close()
      }
      expect(refused).toBeGreaterThan(5)
    },
    EVERY_PAGE_MS,
  )

  it('An empty data file is accepted', async () => {
    const path = await newPath()
    await writeFile(path, '')
    const storage = await opened(path)
    await storage.insert('flag', sample('flag'))
  })
})

async function overwritePage(path: string, page: number): Promise<void> {
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, page * PAGE_BYTES)
  await file.close()
}

describe('the schema', () => {
  it('The schema has a column for every field and a unique index for every unique key', async () => {
    const database = openDirectly(await fileWith([]))
    for (const kind of Object.keys(SAMPLES) as Kind[]) {
      const name = tableOf(kind)
      const inFile = database.prepare(`pragma table_info(${name})`).all()
      const columns = Object.keys(sample(kind)).map(columnOf)
      expect(inFile.map((column) => column.name).sort()).toEqual(columns.sort())
      expect(columns.map(fieldOf).sort()).toEqual(Object.keys(sample(kind)).sort())
      const indexes = database.prepare(`pragma index_list(${name})`).all()
      const uniqueIndexes = indexes.filter(({ unique, partial }) => unique === 1 && partial === 1)
      expect([kind, uniqueIndexes.length]).toEqual([kind, KIND_RULES[kind].unique.length])
    }
  })

  it('The schema of a later release is refused', async () => {
    const path = await fileWith(['Kept'])
    openDirectly(path).exec(`insert into ff_migration values ('9999-from-the-future')`)
    const { storage } = sqlite({ path })
    onTestFinished(() => storage.close())
    await expect(storage.migrate()).rejects.toThrow(/later release.*9999-from-the-future/)
    await expectRefusal(storage.find('flag', newId()), 'UNAVAILABLE')
  })

  it('The schema is created completely or not at all', async () => {
    const path = await newPath()
    const database = openDirectly(path)
    database.exec('create table ff_segment (in_the_way text)')
    const { storage } = sqlite({ path })
    onTestFinished(() => storage.close())
    await expectRefusal(storage.migrate(), 'UNAVAILABLE')
    const tables = database.prepare(`select name from sqlite_schema where type = 'table'`).all()
    expect(tables).toEqual([{ name: 'ff_segment' }])
    database.exec('drop table ff_segment')
    await storage.migrate()
    await storage.insert('segment', sample('segment'))
  })

  it('Stores that migrate at the same time create the schema exactly one time', async () => {
    const path = await newPath()
    const storages = Array.from({ length: 4 }, () => sqlite({ path }).storage)
    await Promise.all(storages.map((storage) => storage.migrate()))
    await Promise.all(storages.map((storage) => storage.insert('flag', sample('flag'))))
    for (const storage of storages) {
      expect((await storage.list('flag', {})).total).toBe(4)
      await storage.close()
    }
  })
})

describe("sqlite with the host's database", () => {
  it("A store on the host's database syncs every commit and leaves the database open", async () => {
    const database = openDirectly(await newPath())
    const { storage } = sqlite({ database })
    await storage.migrate()
    await storage.close()
    expect(database.prepare('pragma synchronous').get()).toEqual({ synchronous: 2 })
    expect(database.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' })
    expect(database.prepare('select count(*) as count from ff_flag').get()).toEqual({ count: 0 })
  })

  it('A store supports drivers that throw if the caller reads the rows of a statement without rows', async () => {
    const database = openDirectly(':memory:')
    const { storage } = sqlite({ database: { prepare: (sql) => strictStatement(database, sql) } })
    await storage.migrate()
    const flag = sample('flag')
    await storage.insert('flag', flag)
    expect(await storage.update('flag', flag.id, { name: 'New' })).toEqual({ ...flag, name: 'New' })
  })

  it('A transaction is rolled back if the disk is full, even if its work continues', async () => {
    const database = openDirectly(':memory:')
    const { storage } = sqlite({ database })
    await storage.migrate()
    const before = sample('flag')
    await storage.insert('flag', before)
    database.exec('pragma max_page_count = 70')
    const work = storage.transaction('lock', async (tx) => {
      await tx.insert('flag', sample('flag'))
      const tooLong = sample('flag', { description: 'x'.repeat(1_000_000) })
      await expectRefusal(tx.insert('flag', tooLong), 'UNAVAILABLE')
      await expectRefusal(tx.insert('flag', sample('flag')), 'UNAVAILABLE')
    })
    await expectRefusal(work, 'UNAVAILABLE')
    expect((await storage.list('flag', {})).data).toEqual([before])
    database.exec('pragma max_page_count = 10000')
    await storage.insert('flag', sample('flag'))
    expect((await storage.list('flag', {})).total).toBe(2)
  })

  it('All concurrent calls of a transaction are rolled back if the disk is full', async () => {
    const database = openDirectly(':memory:')
    const { storage } = sqlite({ database })
    await storage.migrate()
    database.exec('pragma max_page_count = 75')
    const tooLong = sample('flag', { description: 'x'.repeat(1_000_000) })
    const work = storage.transaction('lock', async (tx) => {
      await tx.insert('flag', sample('flag'))
      const together = [tooLong, sample('flag')].map((flag) => tx.insert('flag', flag))
      const [first, second] = await Promise.allSettled(together)
      expect([first?.status, second?.status]).toEqual(['rejected', 'rejected'])
    })
    await expectRefusal(work, 'UNAVAILABLE')
    expect((await storage.list('flag', {})).total).toBe(0)
  })

  it('A transaction is rolled back if its publication cannot be written', async () => {
    const database = openDirectly(':memory:')
    const { storage } = sqlite({ database })
    await storage.migrate()
    database.exec('alter table ff_version rename to ff_version_away')
    const publish = async (tx: StorageSession) => {
      await tx.insert('flag', sample('flag'))
      return tx.publish(newId(), [flagChange(flagDefinition())], METADATA)
    }
    await expectRefusal(storage.transaction('lock', publish), 'UNAVAILABLE')
    const publishAndRead = async (tx: StorageSession) => {
      await publish(tx)
      await tx.find('flag', newId())
    }
    await expectRefusal(storage.transaction('lock', publishAndRead), 'UNAVAILABLE')
    expect((await storage.list('flag', {})).total).toBe(0)
    database.exec('alter table ff_version_away rename to ff_version')
    expect(await storage.transaction('lock', publish)).toBe(1)
    expect((await storage.list('flag', {})).total).toBe(1)
  })
})

describe('a value that its column does not accept', () => {
  const bad = sample('flag', { name: null as unknown as string })
  const count = { environmentId: 'e', minute: '2026', variationId: 'v', reason: 'STATIC' } as const
  const own = { source: 'rest', instanceId: 'i', count: 1, micros: 1, flagId: 'f' } as const
  const counted = { ...count, ...own }

  const opening: readonly (readonly [string, () => Promise<Storage>])[] = [
    ['a file', async () => opened(await newPath())],
    ['the database of the host', openInline],
  ]

  it.each(opening)(
    'A transaction remains usable after INVALID_REQUEST for a value, in %s',
    async (_, open) => {
      const storage = await open()
      await expectRefusal(storage.insert('flag', bad), 'INVALID_REQUEST')
      const flag = sample('flag')
      await storage.transaction('lock', async (tx) => {
        await tx.insert('flag', flag)
        await expectRefusal(tx.insert('flag', bad), 'INVALID_REQUEST')
        await expectRefusal(tx.update('flag', flag.id, { name: bad.name }), 'INVALID_REQUEST')
        const uncountable = { ...counted, flagId: null as unknown as string }
        await expectRefusal(tx.addEvaluationCounts([counted, uncountable]), 'INVALID_REQUEST')
        const together = [bad, sample('flag')].map((each) => tx.insert('flag', each))
        const [refused, taken] = await Promise.allSettled(together)
        expect([refused?.status, taken?.status]).toEqual(['rejected', 'fulfilled'])
      })
      expect(await storage.find('flag', flag.id)).toEqual(flag)
      expect((await storage.list('flag', {})).total).toBe(2)
      const totals = { environmentId: 'e', flagId: 'f', from: '', to: '9' }
      expect(await storage.loadEvaluationCounts(totals)).toEqual([])
    },
  )
})

async function openInline(): Promise<Storage> {
  const { storage } = sqlite({ database: openDirectly(':memory:') })
  await storage.migrate()
  return storage
}

/** Returns a statement like a statement of better-sqlite3: `all` throws if there can be no rows. */
function strictStatement(database: DatabaseSyncInstance, sql: string) {
  const statement = database.prepare(sql)
  const reader = statement.columns().length > 0
  return {
    reader,
    all: (...parameters: (string | number | null | boolean)[]) => {
      if (!reader) throw new Error('This statement does not return data.')
      return statement.all(...parameters)
    },
    run: (...parameters: (string | number | null | boolean)[]) => statement.run(...parameters),
  }
}
