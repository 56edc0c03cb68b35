import type { Storage } from '@ff/storage'

/** The observed contexts of an environment. */
export interface ContextUse {
  readonly environmentId: string
  readonly contexts: number
  /** The estimated number of bytes that the contexts use on disk, with indexes. */
  readonly bytes: number
}

/** The number of contexts whose lengths are measured to estimate the bytes of all. */
const SAMPLED = 500

/** The bytes of a context without its texts, with all indexes; measured with SQLite. */
const BYTES_A_CONTEXT = 750

const HASH_DIGITS = 4

const utf8 = new TextEncoder()

/**
 * Counts the contexts of an environment, and estimates their bytes from a random sample. The
 * beginning of the sample changes with each call, so that contexts cannot be chosen to evade it.
 */
export async function measureContexts(
  storage: Pick<Storage, 'loadContexts'>,
  environmentId: string,
): Promise<ContextUse> {
  const query = { environmentId, seenFrom: '', limit: SAMPLED }
  const random = Math.floor(Math.random() * 16 ** HASH_DIGITS)
  const after = random.toString(16).padStart(HASH_DIGITS, '0')
  const { data: later, total } = await storage.loadContexts({ ...query, after })
  const missing = Math.min(SAMPLED, total) - later.length
  const rest = { ...query, limit: missing, isCounted: false }
  const earlier = missing > 0 ? (await storage.loadContexts(rest)).data : []
  const lengths = [...later, ...earlier].map(lengthOf)
  if (lengths.length === 0) return { environmentId, contexts: total, bytes: 0 }
  const mean = lengths.reduce((sum, length) => sum + length, 0) / lengths.length
  return { environmentId, contexts: total, bytes: Math.round(total * (mean + BYTES_A_CONTEXT)) }
}

/** The key is stored twice: in the record and in an index. */
function lengthOf({ contextText, key }: { readonly contextText: string; readonly key: string }) {
  return utf8.encode(contextText).length + 2 * utf8.encode(key).length
}
