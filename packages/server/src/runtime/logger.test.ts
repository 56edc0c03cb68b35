import { afterEach, expect, it, vi } from 'vitest'
import { createFlagServer } from '../flag-server.ts'
import { silentLogger } from './logger.ts'

afterEach(() => vi.restoreAllMocks())

it('By default, warnings and errors are written to the console, and nothing else', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  const log = vi.spyOn(console, 'log')
  const flags = createFlagServer()
  await flags.value({ project: 'shop', environment: 'live' }, 'banner', {}, false)
  const fields = expect.objectContaining({ errorCode: 'ENVIRONMENT_NOT_FOUND' })
  expect(warn.mock.calls).toEqual([['ff: An evaluation returned the fallback', fields]])
  expect(log).not.toHaveBeenCalled()
  await flags.close()
})

it('silentLogger writes nothing', async () => {
  const warn = vi.spyOn(console, 'warn')
  const flags = createFlagServer({ logger: silentLogger })
  await flags.value({ project: 'shop', environment: 'live' }, 'banner', {}, false)
  expect(warn).not.toHaveBeenCalled()
  await flags.close()
})
