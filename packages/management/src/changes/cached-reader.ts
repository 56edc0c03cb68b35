import type { Reader } from './record-writer.ts'

/**
 * Returns a reader that sends each query one time only and remembers its result. It must not be
 * used after a write.
 */
export function cachedReader(reader: Reader): Reader {
  const results = new Map<string, Promise<unknown>>()
  const once = <T>(input: readonly unknown[], read: () => Promise<T>): Promise<T> => {
    const name = JSON.stringify(input)
    const result = results.get(name) ?? read()
    results.set(name, result)
    return result as Promise<T>
  }
  return {
    find: (kind, id) => once([kind, id], () => reader.find(kind, id)),
    list: (kind, query) => once([kind, query], () => reader.list(kind, query)),
    listVersions: (...input) => reader.listVersions(...input),
    loadFlagSet: (...input) => reader.loadFlagSet(...input),
    loadApiCalls: (...input) => reader.loadApiCalls(...input),
  }
}
