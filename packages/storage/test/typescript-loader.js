// Lets a plain `node` run the sources, for tests that need processes of their own:
// node --conditions=@ff/source --import ./typescript-loader.js program.ts
import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) register(import.meta.url)

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  const { default: typescript } = await import('typescript')
  const { outputText } = typescript.transpileModule(await readFile(new URL(url), 'utf8'), {
    compilerOptions: {
      module: typescript.ModuleKind.ESNext,
      target: typescript.ScriptTarget.ES2022,
    },
  })
  return { format: 'module', source: outputText, shortCircuit: true }
}
