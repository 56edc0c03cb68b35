import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Encoding } from './accepted-encoding.ts'
import { type AppFile, variantOf } from './app-files.ts'
import type { ResolvedOptions } from './options.ts'

/** The elements of `index.html` whose attributes the handler fills in. */
const BASE = /<base\s+href="[^"]*"/
const API = /<meta\s+name="ff-api"\s+content="[^"]*"/

/**
 * Returns `index.html` with the paths of the dashboard and of the API. Throws if the page has no
 * element for one of them.
 */
export function startPage(
  page: AppFile | undefined,
  { basePath, apiPath }: Pick<ResolvedOptions, 'basePath' | 'apiPath'>,
): AppFile {
  const content = page?.variants.get('identity')?.content
  const html = new TextDecoder().decode(content)
  if (!BASE.test(html) || !API.test(html)) {
    throw new Error('index.html must contain <base href=""> and <meta name="ff-api" content="">.')
  }
  const filled = html
    .replace(BASE, () => `<base href="${escaped(basePath)}/"`)
    .replace(API, () => `<meta name="ff-api" content="${escaped(apiPath)}"`)
  const bytes = new TextEncoder().encode(filled)
  const variants = new Map<Encoding, ReturnType<typeof variantOf>>([
    ['identity', variantOf(bytes)],
    ['br', variantOf(new Uint8Array(brotliCompressSync(bytes)))],
    ['gzip', variantOf(new Uint8Array(gzipSync(bytes)))],
  ])
  return { type: 'text/html; charset=utf-8', variants }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
