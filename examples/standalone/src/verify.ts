import { compileFlagSet } from '@ff/core'
import { findIssues } from '@ff/core/authoring'
import { type ManagementUseCases, SYSTEM } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { createFlagServer, extensions } from '@ff/server'
import { KIND_RULES, type Kind, type Storage } from '@ff/storage'
import { existingTables, openStore, type StoreConfig } from './store.ts'

const PAGE = 500

/**
 * Reads all data of a store and returns a sentence for each fault: damaged records,
 * environments with damaged or invalid published flags, and the first audit entry that was changed.
 * Throws if there is no store, or if it cannot be opened.
 */
export async function findDamage(config: StoreConfig): Promise<readonly string[]> {
  await existingTables(config)
  const { storage } = openStore(config)
  const flags = createFlagServer({ storage, management: createManagement() })
  try {
    await storage.migrate()
    const found: string[] = []
    for (const kind of Object.keys(KIND_RULES) as Kind[]) {
      found.push(...(await faultsOf(() => readRecords(storage, kind))))
    }
    if (found.length > 0) return found
    for (const { id } of (await storage.list('environment', {})).data) {
      found.push(...(await faultsOf(() => readFlagSet(storage, id))))
    }
    const management = flags.as(SYSTEM)
    return [...found, ...(await faultsOf(() => readAuditLog(management)))]
  } finally {
    await flags.close()
  }
}

/** Returns the message of the error that a check throws, or nothing. */
async function faultsOf(check: () => Promise<void>): Promise<string[]> {
  try {
    await check()
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

async function readRecords(storage: Storage, kind: Kind): Promise<void> {
  for (let page = 1, left = 1; left > 0; page += 1) {
    const { total } = await storage.list(kind, { limit: PAGE, page })
    left = total - page * PAGE
  }
}

async function readFlagSet(storage: Storage, environmentId: string): Promise<void> {
  const definition = await storage.loadFlagSet(environmentId)
  const [issue] =
    definition === undefined ? [] : findIssues(compileFlagSet(definition, { extensions }))
  if (issue !== undefined) throw new Error(`Environment ${environmentId}: ${issue.message}`)
}

async function readAuditLog(management: ManagementUseCases): Promise<void> {
  const { firstBroken } = await management.verifyAuditLog({})
  if (firstBroken === null) return
  throw new Error(`The audit entry ${firstBroken.id} is broken: ${firstBroken.reason}.`)
}
