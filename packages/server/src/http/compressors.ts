/** The content encodings of replies, in order of preference. */
export const ENCODINGS = ['br', 'gzip'] as const

/** A content encoding of a reply. */
export type ContentEncoding = (typeof ENCODINGS)[number]

/** The functions of a platform that compress text. A platform may lack some encodings. */
export type Compressors = {
  readonly [Encoding in ContentEncoding]?: (text: string) => Promise<Uint8Array>
}

/** The compressors of web streams. They have no brotli. */
export const webCompressors: Compressors =
  typeof CompressionStream === 'undefined' ? {} : { gzip: gzipByStream }

async function gzipByStream(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
