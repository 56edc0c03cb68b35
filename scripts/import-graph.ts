import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/** The names that each name leads to. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** The imports between the given files: types, re-exports and dynamic imports included. */
export function importsBetween(files: readonly string[]): Graph {
  const known = new Set(files)
  const importsOf = (file: string) => {
    const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true)
    const targets = importedFiles.map(({ fileName }) => join(dirname(file), fileName))
    return new Set(targets.filter((target) => known.has(target)))
  }
  return new Map(files.map((file) => [file, importsOf(file)]))
}

/** The imports between the folders of the files of a graph. */
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

/** The largest groups whose members all lead to each other; a name alone only if it leads to itself. */
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

/** The names that one or more steps lead to. */
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
