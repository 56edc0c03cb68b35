import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { build } from 'tsup'

/**
 * Builds a program of TypeScript files, which uses the built packages, and runs it. Returns its exit
 * code.
 *
 * @param {string} file the first file of the program, two folders below the `bench` of its package
 * @param {readonly string[]} [parameters]
 * @returns {Promise<number>}
 */
export async function runBuilt(file, parameters = []) {
  const outDir = await mkdtemp(join(dirname(dirname(file)), '.built-'))
  const name = basename(dirname(file))
  try {
    await build({
      entry: { [name]: file },
      config: false,
      silent: true,
      format: 'esm',
      target: 'node20',
      platform: 'node',
      skipNodeModulesBundle: true,
      splitting: false,
      outDir,
    })
    const command = ['--expose-gc', join(outDir, `${name}.js`), ...parameters]
    return spawnSync(process.execPath, command, { stdio: 'inherit' }).status ?? 1
  } finally {
    await rm(outDir, { recursive: true, force: true })
  }
}
