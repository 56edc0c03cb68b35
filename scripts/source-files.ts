import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The root folder of the repository. */
export const root = join(import.meta.dirname, '..')

/** The names of the folders in `packages`. */
export const packageNames = readdirSync(join(root, 'packages')).sort()

/** Returns the absolute paths of the source files of a package, without tests. */
export function sourceFiles(packageName: string): readonly string[] {
  const folder = join(root, 'packages', packageName, 'src')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(tsx?|js)$/.test(file) && !/\.test\.tsx?$/.test(file))
    .map((file) => join(folder, file))
    .sort()
}
