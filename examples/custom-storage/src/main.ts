import assert from 'node:assert/strict'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Actor } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { startVitest } from 'vitest/node'
import { logStorage } from './log-storage.ts'

// A store is complete when it passes the storage contract.
const root = join(import.meta.dirname, '..')
// Some cases of the contract take seconds on a busy machine.
const options = { root, config: false as const, watch: false, testTimeout: 60_000 }
const vitest = await startVitest('test', [], options)
await vitest.close()
assert.equal(vitest.state.getFailedFilepaths().length, 0, 'the store passes the contract')
assert.ok(vitest.state.getFiles().length > 0, 'the contract was run')

const folder = await mkdtemp(join(tmpdir(), 'ff-custom-storage-'))
try {
  const path = join(folder, 'flags.log')

  // #region use
  const flags = createFlagServer({ storage: logStorage(path), management: createManagement() })
  // #endregion
  await flags.start()
  const me: Actor = { id: 'me', email: '', name: 'Set-up script', role: 'platform', orgId: null }
  const management = flags.as(me)
  const { id: orgId } = await management.createOrganization({ body: { name: 'Example' } })
  const { id: projectId, environments } = await management.createProject({
    params: { orgId },
    body: { key: 'site' },
  })
  const params = { projectId }
  await management.createFlag({ params, body: { key: 'new-checkout', type: 'boolean' } })
  const environmentId = environments[0]?.id ?? ''
  assert.equal((await flags.allOrThrow({ environmentId }, {}))['new-checkout'], false)
  await flags.close()

  // Simulates a process that was killed during a write, so that the line is incomplete.
  await appendFile(path, '[["insert","flag",{"id":')
  const again = createFlagServer({ storage: logStorage(path) })
  assert.equal((await again.allOrThrow({ environmentId }, {}))['new-checkout'], false)
  await again.close()
  console.log('The log was read again, and the data is complete.')
} finally {
  await rm(folder, { recursive: true })
}
