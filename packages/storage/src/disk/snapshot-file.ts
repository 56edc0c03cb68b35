import { createHash } from 'node:crypto'
import { FlagError } from '@ff/core'

/** The first line of a file. The number is the version of the format. */
const HEADER = /^ff-snapshot (\d{1,9})\n/
const FORMAT = 1
/** The last line: the SHA-256 of everything before it. */
const TRAILER = /\nsha256 ([0-9a-f]{64})\n$/
const TRAILER_LENGTH = '\nsha256 \n'.length + 64
/** The size from which parts of the text are joined before they are written. */
const CHUNK_LENGTH = 64 * 1024

/** Returns the contents of a file with this text, in chunks. */
export function* encodeSnapshot(parts: Iterable<string>): Generator<string, void> {
  const hash = createHash('sha256')
  let chunk = `ff-snapshot ${FORMAT}\n`
  for (const part of parts) {
    chunk += part
    if (chunk.length < CHUNK_LENGTH) continue
    hash.update(chunk)
    yield chunk
    chunk = ''
  }
  hash.update(chunk)
  yield `${chunk}\nsha256 ${hash.digest('hex')}\n`
}

/**
 * Returns the text in the contents of a file. Throws `INVALID_DEFINITION` if they are damaged or
 * incomplete, or have the format of a later release.
 */
export function decodeSnapshot(path: string, contents: Buffer): string {
  const header = HEADER.exec(contents.toString('latin1', 0, 32))
  if (header === null) throw damaged(path)
  if (Number(header[1]) > FORMAT) {
    const message = `The file ${path} has the format ${header[1]} of a later release.`
    throw new FlagError('INVALID_DEFINITION', message)
  }
  const bodyEnd = contents.length - TRAILER_LENGTH
  const trailer = TRAILER.exec(contents.toString('latin1', Math.max(0, bodyEnd)))
  if (trailer === null || Number(header[1]) !== FORMAT) throw damaged(path)
  const hash = createHash('sha256').update(contents.subarray(0, bodyEnd)).digest('hex')
  if (hash !== trailer[1]) throw damaged(path)
  return contents.toString('utf8', header[0].length, bodyEnd)
}

function damaged(path: string): FlagError {
  return new FlagError('INVALID_DEFINITION', `The file ${path} is damaged or incomplete.`)
}
