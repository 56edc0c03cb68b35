// Allows `node` to run the sources, for tests that need separate processes:
// node --conditions=@ff/source --import ./typescript-loader.js program.ts
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { register } from 'node:module'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

// Output is cached, because the compiler takes longer to load than most programs.
const FOLDER = join(import.meta.dirname, '../node_modules/.cache/typescript-loader')

if (isMainThread) register(import.meta.url)

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  const text = await readFile(new URL(url), 'utf8')
  const path = join(FOLDER, `${createHash('sha256').update(text).digest('hex')}.js`)
  const source = await readFile(path, 'utf8').catch(() => transpile(text, path))
  return { format: 'module', source, shortCircuit: true }
}

async function transpile(text, path) {
  const { default: typescript } = await import('typescript')
  const { outputText } = typescript.transpileModule(text, {
    compilerOptions: {
      module: typescript.ModuleKind.ESNext,
      target: typescript.ScriptTarget.ES2022,
    },
  })
  const draft = `${path}.${process.pid}`
  await mkdir(FOLDER, { recursive: true })
  await writeFile(draft, outputText)
  await rename(draft, path)
  return outputText
}
