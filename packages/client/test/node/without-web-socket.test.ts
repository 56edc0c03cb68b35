import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createFlagClient, createLocalClient } from '../../src/node.ts'

beforeEach(() => {
  const createRequire = () => () => {
    throw new Error('The package is not installed.')
  }
  vi.stubGlobal('WebSocket', undefined)
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue({ createRequire } as never)
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

class Socket {
  close(): void {}
}

const options = {
  url: 'http://127.0.0.1:9',
  sdkKey: 'ff_1',
  fetch: () => new Promise<never>(() => {}),
}

/** Returns how often a client reports that there is no WebSocket. */
async function reports(more: object, create: typeof createLocalClient = createFlagClient as never) {
  const errors: unknown[] = []
  const client = create({
    ...options,
    onError: (error: unknown) => errors.push(error),
    ...more,
  } as never)
  await new Promise((resolve) => setImmediate(resolve))
  await client.close()
  return errors.filter((error) => String(error).includes('There is no WebSocket')).length
}

it('A client without a WebSocket reports that once, if its transport needs one.', async () => {
  for (const create of [createFlagClient as never, createLocalClient]) {
    expect(await reports({}, create)).toBe(1)
    expect(await reports({ transport: 'socket' }, create)).toBe(1)
    for (const more of [
      { transport: 'long-poll' },
      { transport: 'request' },
      { webSocket: Socket },
    ]) {
      expect(await reports(more, create)).toBe(0)
    }
  }
  expect(await reports({ sources: [() => ({})] }, createLocalClient)).toBe(0)
  expect(await reports({ sources: ['server'] }, createLocalClient)).toBe(1)
})
