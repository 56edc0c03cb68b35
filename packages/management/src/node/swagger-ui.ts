import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { ReadDocsAsset } from '../ports/docs-assets.ts'

/**
 * Returns a function that reads the files of the package `swagger-ui-dist`; `undefined` if the
 * package is not installed.
 */
export function findSwaggerUi(): ReadDocsAsset | undefined {
  // In the bundle of an application, only the working folder leads to the installed packages.
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      const manifest = createRequire(from).resolve('swagger-ui-dist/package.json')
      return (name) => readFile(join(dirname(manifest), name))
    } catch {
      // The package is an optional peer. Without it, the reply at `/docs` contains instructions.
    }
  }
  return undefined
}
