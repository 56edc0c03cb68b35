import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { flagChange, textFlag } from '../../../server/test/seed.ts'
import { diskCache, fileSource } from '../../src/node.ts'
import {
  createLocalScene,
  type LocalScene,
  untilCurrent,
  user,
  whole,
} from '../local/local-scene.ts'

let folder: string
let scene: LocalScene

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ff-client-'))
  scene = await createLocalScene()
  await scene.publish(flagChange(textFlag('banner', 'hello')))
})

afterEach(async () => {
  await scene.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a client until the flag set is written. */
async function written(cache = diskCache(folder)): Promise<void> {
  const local = scene.create({ cache })
  await untilCurrent(scene, local)
  await local.close()
}

const path = () => join(folder, readdirSync(folder)[0] ?? '')
const cached = () => {
  const local = scene.create({ cache: diskCache(folder) })
  const { source } = local.status
  const value = local.value('banner', user)
  void local.close()
  return [source, value]
}

describe('diskCache', () => {
  it('A file that cannot be written is reported once, until it has been written again.', async () => {
    await written()
    const file = path()
    const local = scene.create({ cache: diskCache(folder) })
    await untilCurrent(scene, local)
    const change = async (value: string) => {
      await scene.publish(flagChange(textFlag('banner', value)))
      await scene.clock.advance(11_000)
      await expect.poll(() => readdirSync(folder)).toHaveLength(1)
    }
    const makeUnwritable = () => {
      rmSync(file)
      mkdirSync(join(file, 'in the way'), { recursive: true })
    }
    makeUnwritable()
    for (const value of ['a', 'b', 'c']) await change(value)
    await expect.poll(() => scene.errors).toHaveLength(1)
    rmSync(file, { recursive: true })
    await change('d')
    await expect.poll(() => statSync(file).isFile()).toBe(true)
    makeUnwritable()
    await change('e')
    await expect.poll(() => scene.errors).toHaveLength(2)
    await local.close()
    const messages = scene.errors.map((error) => (error as Error).message)
    expect(new Set(messages).size).toBe(1)
    expect(messages[0]).toMatch(/^The flag cache .*ff-client-\w+ cannot be written: E[A-Z]+$/)
  })

  it('A client reads the flag set of an earlier process at once.', async () => {
    expect(cached()).toEqual(['fallback', 'none'])
    await written()
    expect(cached()).toEqual(['cache', 'hello'])
    expect(readdirSync(folder)).toHaveLength(1)
    expect(statSync(path()).mode & 0o777).toBe(0o600)
  })

  it.each([0, 1, 10, 100, -1])(
    'A file that is cut at %i is ignored and replaced.',
    async (length) => {
      await written()
      const text = readFileSync(path(), 'utf8')
      writeFileSync(path(), text.slice(0, length))
      expect(cached()).toEqual(['fallback', 'none'])
      await written()
      expect(cached()).toEqual(['cache', 'hello'])
    },
  )

  it('A file of another key or URL is ignored and replaced.', async () => {
    await written()
    const mine = path()
    const text = readFileSync(mine, 'utf8')
    const other = scene.create({ cache: diskCache(folder), url: 'http://flags.test/other' })
    expect(other.status.source).toBe('fallback')
    rmSync(mine)
    await written(diskCache(folder))
    writeFileSync(path(), text.replace(/"checksum":"./, '"checksum":"x'))
    expect(cached()).toEqual(['fallback', 'none'])
    await written()
    expect(cached()).toEqual(['cache', 'hello'])
  })

  it('A folder that cannot be written is reported, and has no other effect.', async () => {
    writeFileSync(join(folder, 'file'), '')
    const local = scene.create({ cache: diskCache(join(folder, 'file', 'sub')) })
    await untilCurrent(scene, local)
    await local.close()
    expect(local.value('banner', user)).toBe('hello')
    expect(scene.errors.length).toBeGreaterThan(0)
  })

  it('A full disk is reported, and the old file remains.', async () => {
    await written()
    const full = diskCache(folder)
    await expect(full.set('x', { length: 1 } as never)).rejects.toThrow()
    expect(readdirSync(folder)).toHaveLength(1)
    expect(cached()).toEqual(['cache', 'hello'])
  })

  it('Two caches of one folder that write at the same time leave a whole file.', async () => {
    const caches = [diskCache(folder), diskCache(folder)]
    const texts = ['a', 'b'].map((letter) => letter.repeat(1_000_000))
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(caches.map((cache, index) => cache.set('same', texts[index] ?? '')))
      expect(texts).toContain(caches[0]?.get('same'))
    }
    expect(readdirSync(folder)).toHaveLength(1)
    await caches[0]?.remove('same')
    expect(caches[1]?.get('same')).toBeUndefined()
  })
})

describe('fileSource', () => {
  it('A file is a source, and a missing or damaged file is reported.', async () => {
    const file = join(folder, 'flags.json')
    const local = scene.create({ sources: [fileSource(file)] })
    expect(await local.ready()).toBe('fallbacks')
    expect(scene.errors).toHaveLength(1)
    writeFileSync(file, '{"version"')
    await scene.clock.advance(46_000)
    await expect.poll(() => scene.errors).toHaveLength(2)
    writeFileSync(file, JSON.stringify(whole(3, textFlag('banner', 'from a file'))))
    await scene.clock.advance(46_000)
    await expect.poll(() => local.value('banner', user)).toBe('from a file')
    chmodSync(file, 0o600)
  })
})
