import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ConfigError } from '../config/config-error.ts'
import { assertComplete, createUnfinished, finish, openDataFolder } from './data-folder.ts'

/** Switches hard links off, as on file systems without them. */
const disk = vi.hoisted(() => ({ hasLinks: true }))

vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs/promises')>()
  const link: typeof original.link = async (from, to) => {
    if (disk.hasLinks) return original.link(from, to)
    throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' })
  }
  return { ...original, link }
})

let parent: string
let dataDir: string

beforeEach(() => {
  disk.hasLinks = true
  parent = mkdtempSync(join(tmpdir(), 'ff-folder-'))
  dataDir = join(parent, 'data')
})
afterEach(() => rmSync(parent, { recursive: true }))

async function newUnfinished(content: string): Promise<string> {
  await openDataFolder(dataDir)
  const path = await createUnfinished(dataDir)
  writeFileSync(path, content)
  return path
}

const contentOf = (name: string) => readFileSync(join(dataDir, name), 'utf8')

describe('openDataFolder', () => {
  it('A missing data folder is created and contains no store', async () => {
    dataDir = join(dataDir, 'a', 'b')
    expect(await openDataFolder(dataDir)).toBe(false)
    expect(readdirSync(dataDir)).toEqual([])
  })

  it('Unfinished stores are deleted, and all other files are kept', async () => {
    mkdirSync(join(dataDir, 'first-start-aB3_x9'), { recursive: true })
    writeFileSync(join(dataDir, 'first-start-aB3_x9', 'ff.sqlite'), 'half')
    mkdirSync(join(dataDir, 'ff.sqlite-unfinished-aB3_x9'))
    const others = [
      'first-start-of-mine',
      'ff.sqlite-unfinished',
      'ff.sqlite.new',
      'secret.key',
      'my-first-start-aB3_x9',
    ]
    for (const name of others) writeFileSync(join(dataDir, name), name)
    expect(await openDataFolder(dataDir)).toBe(false)
    expect(readdirSync(dataDir).sort()).toEqual([...others].sort())
  })

  it('The store remains if a start was killed before it deleted the other name of the data file', async () => {
    const unfinished = await newUnfinished('used')
    linkSync(unfinished, join(dataDir, 'ff.sqlite'))
    expect(await openDataFolder(dataDir)).toBe(true)
    expect(readdirSync(dataDir)).toEqual(['ff.sqlite'])
    expect(contentOf('ff.sqlite')).toBe('used')
  })

  it.each(['ff.sqlite-wal', 'ff.sqlite-journal'])(
    'A data folder with %s but without the data file is refused and not changed',
    async (name) => {
      mkdirSync(dataDir)
      writeFileSync(join(dataDir, name), 'changes')
      await expect(openDataFolder(dataDir)).rejects.toThrow(
        `${join(dataDir, name)} belongs to a store whose data file ff.sqlite is missing. Restore`,
      )
      expect(contentOf(name)).toBe('changes')
    },
  )

  it('A data file of 0 bytes is refused and not taken for an empty store', async () => {
    mkdirSync(dataDir)
    writeFileSync(join(dataDir, 'ff.sqlite'), '')
    await expect(openDataFolder(dataDir)).rejects.toThrow(
      `${join(dataDir, 'ff.sqlite')} is empty: it has 0 bytes. Restore a backup, or delete the file`,
    )
    expect(readdirSync(dataDir)).toEqual(['ff.sqlite'])
  })

  it('A link to a data file that does not exist is refused and not replaced', async () => {
    mkdirSync(dataDir)
    symlinkSync(join(parent, 'not-mounted', 'ff.sqlite'), join(dataDir, 'ff.sqlite'))
    await expect(openDataFolder(dataDir)).rejects.toThrow(ConfigError)
    expect(readdirSync(dataDir)).toEqual(['ff.sqlite'])
  })
})

describe.each([true, false])('finish, on a disk whose support of hard links is %s', (hasLinks) => {
  beforeEach(() => {
    disk.hasLinks = hasLinks
  })

  it(`A finished store has only its final name (hard links: ${hasLinks})`, async () => {
    const unfinished = await newUnfinished('new')
    await finish(unfinished, dataDir)
    expect(readdirSync(dataDir)).toEqual(['ff.sqlite'])
    expect(contentOf('ff.sqlite')).toBe('new')
  })

  it(`A store that another process has created is not replaced (hard links: ${hasLinks})`, async () => {
    const unfinished = await newUnfinished('new')
    writeFileSync(join(dataDir, 'ff.sqlite'), 'used')
    await expect(finish(unfinished, dataDir)).rejects.toThrow(/^Another process has created/)
    expect(contentOf('ff.sqlite')).toBe('used')
  })

  it(`An unfinished store that another process has deleted is not finished (hard links: ${hasLinks})`, async () => {
    const unfinished = await newUnfinished('new')
    await openDataFolder(dataDir)
    await expect(finish(unfinished, dataDir)).rejects.toThrow(/^Another process has created/)
    expect(existsSync(join(dataDir, 'ff.sqlite'))).toBe(false)
  })
})

it('A closed store with changes that are only in its log is not complete', async () => {
  const unfinished = await newUnfinished('new')
  expect(() => assertComplete(unfinished)).not.toThrow()
  writeFileSync(`${unfinished}-wal`, 'changes')
  expect(() => assertComplete(unfinished)).toThrow(/could not be written completely/)
})
