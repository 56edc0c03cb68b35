import { getOrInsert } from '../runtime/get-or-insert.ts'
import { type Compressors, type ContentEncoding, ENCODINGS } from './compressors.ts'
import { JSON_TYPE, type Reply } from './exchange.ts'

/** Texts below this length, in UTF-16 units, are sent uncompressed. */
const MIN_COMPRESSED_LENGTH = 1024

/** The compressed forms of each text. They are kept as long as the text. */
const compressed = new WeakMap<TextHolder, Map<ContentEncoding, Promise<Uint8Array>>>()

/** An object with a text. Several replies may share it. */
export interface TextHolder {
  readonly text: string
}

interface TextReplyOptions {
  /** The `Accept-Encoding` header of the request. */
  readonly acceptEncoding: string | undefined
  readonly compressors: Compressors
  readonly headers: Reply['headers']
}

/**
 * Creates a reply with a JSON text, compressed if the client accepts it. Each text is compressed
 * once for each encoding, however many clients receive it.
 */
export async function textReply(
  holder: TextHolder,
  { acceptEncoding, compressors, headers }: TextReplyOptions,
): Promise<Reply> {
  const about = { ...headers, 'Content-Type': JSON_TYPE, Vary: 'Accept-Encoding' }
  const plain = { status: 200, headers: about, body: holder.text }
  if (holder.text.length < MIN_COMPRESSED_LENGTH) return plain
  const encoding = encodingFor(acceptEncoding, compressors)
  const compress = encoding && compressors[encoding]
  if (encoding === undefined || compress === undefined) return plain
  const forms = getOrInsert(compressed, holder, () => new Map())
  const body = await getOrInsert(forms, encoding, () => {
    const compressing = compress(holder.text)
    compressing.catch(() => forms.delete(encoding))
    return compressing
  })
  return { status: 200, headers: { ...about, 'Content-Encoding': encoding }, body }
}

/**
 * Returns the preferred encoding that an `Accept-Encoding` header permits and the platform has;
 * `undefined` to send the text as it is.
 */
export function encodingFor(
  acceptEncoding: string | undefined,
  compressors: Compressors,
): ContentEncoding | undefined {
  if (acceptEncoding === undefined) return undefined
  const qualities = new Map<string, number>()
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
    const quality = parameters.find((text) => text.startsWith('q='))
    qualities.set(name, quality === undefined ? 1 : Number(quality.slice(2)))
  }
  const qualityOf = (name: string) => qualities.get(name) ?? qualities.get('*') ?? 0
  return ENCODINGS.filter((name) => compressors[name] !== undefined && qualityOf(name) > 0).sort(
    (left, right) => qualityOf(right) - qualityOf(left),
  )[0]
}
