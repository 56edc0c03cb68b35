/// <reference types="node" />
import { readFile } from 'node:fs/promises'

/**
 * Creates a source that reads a flag set from a JSON file, for example the response of `GET
 * /evaluator/flag-set`.
 */
export function fileSource(path: string): () => Promise<unknown> {
  return async () => JSON.parse(await readFile(path, 'utf8')) as unknown
}
