import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'

/** The fields of a published manifest that the tests read. */
export interface Manifest {
  readonly version: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** Returns the path of the tarball of a package. */
export function tarballOf(packageName: string): string {
  const folder = inject('tarballs')
  const pattern = new RegExp(`^ff-${packageName}-\\d.*\\.tgz$`)
  const [file, ...others] = readdirSync(folder).filter((name) => pattern.test(name))
  if (file === undefined || others.length > 0) throw new Error(`No single tarball: ${packageName}`)
  return join(folder, file)
}

/** Returns the manifest in the tarball of a package. */
export function manifestOf(packageName: string): Manifest {
  const parameters = ['-xzOf', tarballOf(packageName), 'package/package.json']
  return JSON.parse(execFileSync('tar', parameters, { encoding: 'utf8' }))
}
