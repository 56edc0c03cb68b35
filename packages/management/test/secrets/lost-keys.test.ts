import { memory } from '@ff/storage'
import { expect, it } from 'vitest'
import { silentLogger } from '../../../server/src/runtime/logger.ts'
import { createManagedServer } from '../world/managed-server.ts'

const [FIRST, SECOND] = ['1a'.repeat(32), '2b'.repeat(32)] as const
const actor = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const

it('A start with a lost secret key logs one warning with the number of webhooks, and no other start does', async () => {
  const { storage } = memory()
  if (storage === undefined) throw new Error('memory() must provide a store')
  const shared = { ...storage, close: async () => undefined }
  const start = async (secretKey?: string | readonly string[]) => {
    const warnings: unknown[] = []
    const warn = (message: string, fields?: unknown) => void warnings.push([message, fields])
    const options = { storage: shared, logger: { ...silentLogger, warn } }
    const flags = createManagedServer({ ...options, ...(secretKey && { secretKey }) })
    await flags.start()
    return { flags, warnings }
  }
  const first = await start(FIRST)
  expect(first.warnings).toEqual([])
  const management = first.flags.as(actor)
  const { id: orgId } = await management.createOrganization({ body: { name: 'Acme' } })
  const body = { url: 'https://hooks.acme.test/', eventTypes: ['sdk_key.*'] }
  for (let count = 0; count < 2; count += 1) {
    await management.createWebhook({ params: { orgId }, body })
  }
  await first.flags.close()
  const lost = [expect.stringContaining('the secret key that encrypted'), { webhooks: 2 }]
  for (const [keys, expected] of [
    [FIRST, []],
    [[SECOND, FIRST], []],
    [SECOND, [lost]],
    [undefined, [lost]],
  ] as const) {
    const { flags, warnings } = await start(keys)
    expect(warnings).toEqual(expected)
    await flags.close()
  }
})
