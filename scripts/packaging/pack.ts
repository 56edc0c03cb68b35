import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { packageNames, root } from '../source-files.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the tarballs of all packages. */
    readonly tarballs: string
  }
}

const tarballs = mkdtempSync(join(tmpdir(), 'ff-tarballs-'))

/** Packs all packages at the same time, without an earlier build, and provides the tarballs. */
export async function setup(project: TestProject): Promise<void> {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const pack = ['-y', packageManager, 'pack', '--pack-destination', tarballs]
  const folders = packageNames.map((name) => join(root, 'packages', name))
  for (const folder of folders) rmSync(join(folder, 'dist'), { recursive: true, force: true })
  await Promise.all(folders.map((cwd) => promisify(execFile)('npx', pack, { cwd })))
  project.provide('tarballs', tarballs)
}

/** Deletes the tarballs. */
export function teardown(): void {
  rmSync(tarballs, { recursive: true })
}
