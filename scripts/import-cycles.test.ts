import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

type Graph = ReadonlyMap<string, ReadonlySet<string>>

const root = join(import.meta.dirname, '../packages')

/** The relative imports of each source file of a package, type imports included. */
function fileGraph(name: string): Graph {
  const src = join(root, name, 'src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  return new Map(
    sources.map((file) => {
      const imports = readFileSync(join(src, file), 'utf8').matchAll(/from '(\.[^']+)'/g)
      return [file, new Set(Array.from(imports, ([, to = '']) => normalize(join(file, '..', to))))]
    }),
  )
}

/** The imports between folders; entry files, directly in `src`, may import any folder. */
function folderGraph(files: Graph): Graph {
  const folders = new Map<string, Set<string>>()
  for (const [file, imports] of files) {
    const others = [...imports]
      .map((each) => dirname(each))
      .filter((each) => each !== dirname(file))
    folders.set(dirname(file), new Set([...(folders.get(dirname(file)) ?? []), ...others]))
  }
  folders.delete('.')
  return folders
}

/** The nodes that are in a cycle or lead into one: those that remain when all others are removed. */
function cyclic(graph: Graph): readonly string[] {
  let left = [...graph.keys()]
  for (let count = -1; count !== left.length; ) {
    count = left.length
    const names = new Set(left)
    left = left.filter((name) => [...(graph.get(name) ?? [])].some((each) => names.has(each)))
  }
  return left
}

describe.each(['core'])('the imports inside packages/%s', (name) => {
  const files = fileGraph(name)

  it('form no cycle of files', () => {
    expect(files.size).toBeGreaterThan(20)
    expect(cyclic(files)).toEqual([])
  })

  it('form no cycle of folders, and no folder imports an entry file', () => {
    const folders = folderGraph(files)
    expect(cyclic(folders)).toEqual([])
    expect([...folders].filter(([, imports]) => imports.has('.'))).toEqual([])
  })
})
