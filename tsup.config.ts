import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { defineConfig } from 'tsup'

/** One recipe for every package: what its `exports` name is built, and its worker threads beside. */
interface Manifest {
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

const manifest: Manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const entries: Record<string, string> = {}
for (const target of Object.values(manifest.exports ?? {})) {
  if (typeof target === 'string') continue
  const { '@ff/source': source, default: output } = target
  if (source !== undefined && output !== undefined) entries[basename(output, '.js')] = source
}

const workers: Record<string, string> = {}
for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
  if (file.endsWith('-worker.js')) workers[basename(file, '.js')] = join('src', file)
}

const isLibrary = Object.keys(entries).length > 0

export default defineConfig({
  entry: isLibrary ? { ...entries, ...workers } : ['src/main.ts'],
  format: 'esm',
  target: 'node20',
  platform: 'node',
  // `node:sqlite` has no other name.
  removeNodeProtocol: false,
  // The settings of project references would refuse the files of other packages.
  dts: isLibrary && { entry: entries, compilerOptions: { composite: false, incremental: false } },
  // The build of the dashboard's application is in the same folder.
  clean: ['!app/**', '!manifest.json'],
  silent: true,
})
