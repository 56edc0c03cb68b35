import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { sqlite } from '@ff/storage/sqlite'
import type { Config } from '../config.ts'
import { createDemo, type DemoSecrets } from './demo.ts'

/** Creates a data file with the demo, and returns its secrets. */
export async function fillFile(
  path: string,
  settings: Pick<Config, 'adminToken' | 'administrator'>,
): Promise<DemoSecrets> {
  const flags = createFlagServer({ ...sqlite({ path }), management: createManagement() })
  try {
    return await createDemo(flags, settings)
  } finally {
    await flags.close()
  }
}
