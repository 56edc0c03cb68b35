import { expect, it } from 'vitest'
import { createTestClient } from '../src/testing.ts'
import { flags } from './scene.ts'

it('A test client returns the values that a test sets, and fallbacks otherwise.', async () => {
  const client = createTestClient(flags, { theme: 'dark' })
  const seen: unknown[] = []
  client.subscribe('theme', (theme) => seen.push(theme))
  expect([client.value('theme'), client.value('limit')]).toEqual(['dark', -1])
  client.set({ theme: 'red', limit: 3 })
  client.set({ theme: 'blue' as never })
  expect([client.value('theme'), client.value('limit')]).toEqual(['red', 3])
  expect(client.detail('theme').errorCode).toBe('TYPE_MISMATCH')
  expect(seen).toEqual(['red'])
  expect(await client.ready()).toBe('live')
  await client.setContext({})
  client.freeze()
  client.set({ theme: 'light' })
  expect(client.value('theme')).toBe('red')
  await client.reset({})
  expect(client.value('theme')).toBe('light')
  expect(client.snapshot().flags).toEqual({ theme: 'light', limit: 3 })
  client.close()
  client.set({ theme: 'dark' })
  expect(client.value('theme')).toBe('light')
  expect(client.status).toMatchObject({ isCurrent: false, connection: 'closed' })
})
