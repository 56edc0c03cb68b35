import { readdir, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { snapshotFolder } from './snapshots.ts'

const YEAR_MS = 365 * 24 * 3_600_000

async function open() {
  const path = join(await temporaryFolder(), 'snapshots')
  const snapshots = snapshotFolder({ path })
  await snapshots.open()
  return { path, snapshots, file: (name: string) => join(path, `${name}.snapshot`) }
}

it('A saved text is returned with the time at which it was saved, by any process', async () => {
  const { path, snapshots } = await open()
  const long = JSON.stringify({ text: 'ä😀\u2028'.repeat(50_000) })
  await snapshots.save('long', [long.slice(0, 70_001), long.slice(70_001)])
  await snapshots.save('empty', [])
  const other = snapshotFolder({ path })
  const saved = await other.load('long')
  expect(saved?.text).toBe(long)
  expect(Math.abs((saved?.confirmedAt ?? 0) - Date.now())).toBeLessThan(60_000)
  expect((await other.load('empty'))?.text).toBe('')
  expect(await other.load('missing')).toBeUndefined()
})

it('Only the owner can read the files, and no unfinished file remains', async () => {
  const { path, snapshots, file } = await open()
  await snapshots.save('keys', ['[]'])
  expect((await stat(file('keys'))).mode & 0o077).toBe(0)
  expect((await stat(path)).mode & 0o077).toBe(0)
  expect(await readdir(path)).toEqual(['keys.snapshot'])
})

it('A save that fails keeps the last text and leaves no file', async () => {
  const { path, snapshots } = await open()
  await snapshots.save('keys', ['first'])
  const failing = function* () {
    yield 'x'.repeat(100_000)
    throw new Error('No more parts')
  }
  await expect(snapshots.save('keys', failing())).rejects.toThrow('No more parts')
  expect((await snapshots.load('keys'))?.text).toBe('first')
  expect(await readdir(path)).toEqual(['keys.snapshot'])
})

it('A file that is truncated at any byte is refused', async () => {
  const { snapshots, file } = await open()
  await snapshots.save('keys', ['{"keys":[]}'])
  const whole = await readFile(file('keys'))
  for (let length = 0; length < whole.length; length += 1) {
    await truncate(file('keys'), length)
    await expect(snapshots.load('keys')).rejects.toMatchObject({ code: 'INVALID_DEFINITION' })
    await writeFile(file('keys'), whole)
  }
  expect((await snapshots.load('keys'))?.text).toBe('{"keys":[]}')
})

it('A file in which any byte has changed is refused', async () => {
  const { snapshots, file } = await open()
  await snapshots.save('keys', ['{"keys":[]}'])
  const whole = await readFile(file('keys'))
  for (let index = 0; index < whole.length; index += 1) {
    const changed = Buffer.from(whole)
    changed[index] = (changed[index] ?? 0) ^ 1
    await writeFile(file('keys'), changed)
    await expect(snapshots.load('keys')).rejects.toMatchObject({ code: 'INVALID_DEFINITION' })
  }
})

it('A file with the format of a later release is refused with its number', async () => {
  const { snapshots, file } = await open()
  await writeFile(file('keys'), 'ff-snapshot 2\nanything')
  await expect(snapshots.load('keys')).rejects.toThrow(
    `The file ${file('keys')} has the format 2 of a later release.`,
  )
})

it('A confirmation changes the time of present snapshots only', async () => {
  const { path, snapshots } = await open()
  await snapshots.save('keys', ['[]'])
  const at = Date.parse('2031-01-02T03:04:05.000Z')
  await snapshots.confirm(['keys', 'missing'], at)
  expect((await snapshots.load('keys'))?.confirmedAt).toBe(at)
  expect(await readdir(path)).toEqual(['keys.snapshot'])
})

it('Snapshots that were not confirmed in time and abandoned files are removed, and no other files', async () => {
  const { path, snapshots, file } = await open()
  const now = Date.now()
  await snapshots.save('old', ['1'])
  await snapshots.save('new', ['2'])
  await snapshots.confirm(['old'], now - YEAR_MS)
  const abandoned = `${file('old')}.1.unfinished`
  for (const name of [abandoned, `${file('new')}.2.unfinished`, join(path, 'notes.txt')]) {
    await writeFile(name, '')
  }
  await utimes(abandoned, 0, 0)
  await utimes(join(path, 'notes.txt'), 0, 0)
  await snapshots.removeUnconfirmed(now - YEAR_MS / 2)
  const rest = ['new.snapshot', 'new.snapshot.2.unfinished', 'notes.txt']
  expect((await readdir(path)).sort()).toEqual(rest)
})

it('A path that cannot be a folder is refused with the name of the option', async () => {
  const folder = await temporaryFolder()
  const taken = join(folder, 'file')
  await writeFile(taken, '')
  const refusal = (path: string) => snapshotFolder({ path }).open()
  await expect(refusal(taken)).rejects.toThrow(`\`path\`: The folder ${taken} is a file.`)
  await expect(refusal(join(taken, 'below'))).rejects.toThrow('has a file in its path.')
  expect(() => snapshotFolder({ path: '' })).toThrow('`path` must be the path of a folder.')
})
