import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/** A directed graph: name → names of its direct successors. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** Returns the imports between files, including type imports, re-exports and dynamic imports. */
export function importsBetween(files: readonly string[]): Graph {
  const known = new Set(files)
  const importsOf = (file: string) => {
    const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true)
    const targets = importedFiles.map(({ fileName }) => join(dirname(file), fileName))
    return new Set(targets.filter((target) => known.has(target)))
  }
  return new Map(files.map((file) => [file, importsOf(file)]))
}

/** Returns the imports between the folders of files. */
export function folderImports(graph: Graph): Graph {
  const folders = new Map<string, Set<string>>()
  for (const [file, targets] of graph) {
    const folder = dirname(file)
    const others = folders.get(folder) ?? new Set()
    for (const target of targets) if (dirname(target) !== folder) others.add(dirname(target))
    folders.set(folder, others)
  }
  return folders
}

/**
 * Returns the cycles of a graph: the largest groups of names that can all reach each other. A
 * single name is a cycle if it refers to itself.
 */
export function cyclesIn(graph: Graph): readonly (readonly string[])[] {
  const cycles: string[][] = []
  const found = new Set<string>()
  const reach = new Map([...graph.keys()].map((name) => [name, reachableFrom(graph, name)]))
  for (const [name, reachable] of reach) {
    if (found.has(name) || !reachable.has(name)) continue
    const members = [...reachable].filter((other) => reach.get(other)?.has(name))
    for (const member of members) found.add(member)
    cycles.push(members.sort())
  }
  return cycles.sort()
}

/** Returns the names that can be reached in one or more steps. */
function reachableFrom(graph: Graph, start: string): ReadonlySet<string> {
  const reachable = new Set<string>()
  const pending = [...(graph.get(start) ?? [])]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (reachable.has(name)) continue
    reachable.add(name)
    pending.push(...(graph.get(name) ?? []))
  }
  return reachable
}
