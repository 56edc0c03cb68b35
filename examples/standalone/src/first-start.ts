import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'
import type { Config } from './config.ts'
import { assertComplete, createUnfinished, finish, openDataFolder } from './data-folder.ts'
import { createDemo, type DemoSecrets } from './demo.ts'
import { describeSecrets, type Print } from './introduction.ts'

type Settings = Pick<Config, 'dataDir' | 'adminToken' | 'administrator'>

/**
 * Creates a store with the demo, prints its secrets and returns them. Returns `undefined` if the
 * data folder contains a store.
 *
 * The store gets its final name after its secrets are printed. Therefore a start that is
 * interrupted earlier is followed by another first start. No requests are served before.
 */
export async function fillNewStore(
  { dataDir, ...settings }: Settings,
  print: Print,
): Promise<DemoSecrets | undefined> {
  if (await openDataFolder(dataDir)) return undefined
  const path = await createUnfinished(dataDir)
  const secrets = await fill(path, settings)
  assertComplete(path)
  await print(describeSecrets(dataDir, secrets))
  await finish(path, dataDir)
  return secrets
}

async function fill(path: string, settings: Omit<Settings, 'dataDir'>): Promise<DemoSecrets> {
  const flags = createFlagServer({ ...sqlite({ path }), management: createManagement() })
  try {
    return await createDemo(flags, settings)
  } finally {
    await flags.close()
  }
}
