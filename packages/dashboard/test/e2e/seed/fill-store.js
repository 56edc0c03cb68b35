// @ts-check
// Adds a project with three environments and many flags to the store of a stopped server:
// `node fill-store.js <data file> <number of flags>`. Prints the id of the project.
import { randomUUID } from 'node:crypto'
import { SYSTEM } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'

const [, , path = '', count = '5000'] = process.argv
const NOW = '2026-01-01T00:00:00.000Z'
const FRAME = { createdAt: NOW, updatedAt: NOW, deletedAt: null, revision: 1 }

const { storage, ...others } = sqlite({ path })
const flags = createFlagServer({ storage, ...others, management: createManagement() })
await flags.start()
const management = flags.as(SYSTEM)
const { orgId } = await management.getProject({ params: { projectId: 'shop' } })
const { id: projectId, environments } = await management.createProject({
  params: { orgId },
  body: { key: 'large', name: 'Large' },
})
const test = await management.createEnvironment({ params: { projectId }, body: { key: 'test' } })
const environmentIds = [...environments.map(({ id }) => id), test.id]
await storage.transaction(orgId, async (session) => {
  for (let index = 0; index < Number(count); index += 1) await insertFlag(session, index)
})
while ((await storage.list('flag', { where: { summary: null }, limit: 1 })).total > 0) {
  await new Promise((resolve) => setTimeout(resolve, 50))
}
await flags.close()
process.stdout.write(`${projectId}\n`)

/**
 * @param {import('@ff/storage').StorageSession} session
 * @param {number} index
 */
async function insertFlag(session, index) {
  const id = randomUUID()
  await session.insert('flag', {
    ...{ id, projectId, key: `flag-${String(index).padStart(5, '0')}`, clientVisible: true },
    ...{ name: `Flag number ${index}`, description: `What flag ${index} changes` },
    ...{ type: 'boolean', tags: [`team-${index % 12}`, 'web'], archivedAt: null },
    ...{ lastEvaluatedAt: null, summary: null, marks: [], unusedSince: NOW, ...FRAME },
  })
  const variations = [true, false].map((value, orderIndex) => ({
    ...{ id: randomUUID(), flagId: id, projectId, key: `${value}`, name: `${value}`, orderIndex },
    ...{ description: '', value: `${value}`, isDefault: !value, ...FRAME },
  }))
  for (const variation of variations) await session.insert('variation', variation)
  const [{ id: variationId } = { id: '' }] = variations
  for (const environmentId of environmentIds) {
    await insertConfiguration(session, { flagId: id, environmentId, projectId, variationId, index })
  }
}

/**
 * @param {import('@ff/storage').StorageSession} session
 * @param {{ flagId: string, environmentId: string, projectId: string, variationId: string, index: number }} flag
 */
async function insertConfiguration(session, { variationId, index, ...place }) {
  await session.insert('flagState', {
    ...{ id: randomUUID(), ...place, isActive: index % 5 > 0, defaultVariationId: null },
    ...{ offVariationId: null, targets: [], prerequisites: [], ...FRAME },
  })
  if (index % 3 === 0) return
  const rolloutId = randomUUID()
  const percentage = index % 100
  await session.insert('rollout', {
    ...{ id: rolloutId, ...place, name: 'Share', strategy: 'percentage', bucketBy: 'user.key' },
    ...{ salt: 'salt', scheme: 'ff', variationId, percentage, variants: null, ...FRAME },
    ...{ targetPercentage: null, increment: null, intervalHours: null, startAt: null },
    ...{ ranges: [{ variationId, from: 0, to: percentage * 1000 }], previousRanges: null },
  })
  await session.insert('targetingRule', {
    ...{ id: randomUUID(), ...place, name: 'A share', kind: 'custom', orderIndex: 0 },
    ...{ conditions: [], segmentId: null, variationId: null, rolloutId, ...FRAME },
  })
}
