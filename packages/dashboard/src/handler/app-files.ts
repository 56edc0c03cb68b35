import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import type { Encoding } from './accepted-encoding.ts'

/** A file of the application, which is kept in memory. */
export interface AppFile {
  readonly type: string
  /** The content in each encoding that exists. */
  readonly variants: ReadonlyMap<Encoding, Variant>
}

/** The content of a file in one encoding. */
export interface Variant {
  readonly content: Uint8Array<ArrayBuffer>
  /** A strong validator, which differs between encodings. */
  readonly etag: string
}

/** The extension of a file in each encoding. */
const EXTENSIONS: ReadonlyMap<Encoding, string> = new Map([
  ['br', '.br'],
  ['gzip', '.gz'],
])

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.css', 'text/css; charset=utf-8'],
  ['.html', 'text/html; charset=utf-8'],
  ['.ico', 'image/x-icon'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.json', 'application/json'],
  ['.md', 'text/plain; charset=utf-8'],
  ['.png', 'image/png'],
  ['.svg', 'image/svg+xml'],
  ['.txt', 'text/plain; charset=utf-8'],
  ['.webmanifest', 'application/manifest+json'],
  ['.woff2', 'font/woff2'],
])

/**
 * Reads all files of a folder and its subfolders, and returns them by their paths, such as
 * `assets/index.js`. Symbolic links are left out.
 */
export function readAppFiles(folder: string): ReadonlyMap<string, AppFile> {
  const contents = new Map<string, Uint8Array<ArrayBuffer>>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    contents.set(relative(folder, file).split(sep).join('/'), new Uint8Array(readFileSync(file)))
  }
  const files = new Map<string, AppFile>()
  for (const [path, content] of contents) {
    if (isVariantOf(contents, path)) continue
    const variants = new Map([['identity' as Encoding, variantOf(content)]])
    for (const [encoding, extension] of EXTENSIONS) {
      const encoded = contents.get(path + extension)
      if (encoded !== undefined) variants.set(encoding, variantOf(encoded))
    }
    files.set(path, { type: TYPES.get(extname(path)) ?? 'application/octet-stream', variants })
  }
  return files
}

/** Returns content with its validator. */
export function variantOf(content: Uint8Array<ArrayBuffer>): Variant {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 22)
  return { content, etag: `"${hash}"` }
}

function isVariantOf(contents: ReadonlyMap<string, unknown>, path: string): boolean {
  const extension = [...EXTENSIONS.values()].find((each) => path.endsWith(each))
  return extension !== undefined && contents.has(path.slice(0, -extension.length))
}
