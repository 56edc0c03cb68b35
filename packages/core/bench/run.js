import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'

/**
 * Builds the benchmark as a package is built, for the module system of a test runner would be part
 * of what is measured, and runs it. What is given on the command line is passed on.
 */
const here = dirname(fileURLToPath(import.meta.url))
const outDir = await mkdtemp(join(here, '.built-'))
try {
  await build({
    entry: [join(here, 'main.ts')],
    config: false,
    silent: true,
    format: 'esm',
    target: 'es2022',
    outDir,
    esbuildOptions: (options) => {
      options.conditions = ['@ff/source']
    },
    noExternal: [/.*/],
  })
  const file = join(outDir, 'main.js')
  const { status } = spawnSync(process.execPath, ['--expose-gc', file, ...process.argv.slice(2)], {
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} finally {
  await rm(outDir, { recursive: true, force: true })
}
