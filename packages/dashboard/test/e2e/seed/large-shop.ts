import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RunningServer } from '../running-server.ts'

const PROGRAM = join(import.meta.dirname, 'fill-store.js')

/** A server with a project of many flags. */
export interface LargeShop {
  readonly server: RunningServer
  /** The id of the project. */
  readonly project: string
}

/** Starts a server whose store contains a project with `count` flags in three environments. */
export async function startLargeShop(
  count: number,
  env: Readonly<Record<string, string>> = {},
): Promise<LargeShop> {
  const folder = mkdtempSync(join(tmpdir(), 'ff-dashboard-large-'))
  const empty = await RunningServer.start(env, folder)
  await empty.stop()
  const file = join(folder, 'data', 'ff.sqlite')
  const project = execFileSync(process.execPath, [PROGRAM, file, String(count)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
  // The link is printed only once.
  return { server: await RunningServer.start(env, folder, empty.link), project }
}
