import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { pipeline as pipe } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { FlagError, isFlagError } from '@ff/core'
import { PAGE_LENGTH, PAGE_ROWS, type TablePage, type TableRow } from '../sql/table-pages.ts'
import { assertSchema } from '../sql/table-shapes.ts'
import { ContentDigest, type ContentSummary, type Contents, toLine } from './contents.ts'

/** The version of the format: gzip of lines of JSON. */
const FORMAT_VERSION = 1
const FORMAT = 'ff backup'
/** The maximum length of a line. A longer one would not fit into a JavaScript string. */
const MOST_LINE_LENGTH = 256 * 1024 * 1024

/** The first line of a backup. */
export interface BackupHeader {
  readonly format: string
  readonly formatVersion: number
  /** The time at which the backup was created, in ISO 8601. */
  readonly createdAt: string
  readonly schema: readonly string[]
}

/** Writes contents to a new file, and returns their summary. */
export async function writeContents(
  path: string,
  { schema, pages }: Contents,
): Promise<ContentSummary> {
  const createdAt = new Date().toISOString()
  const header = { format: FORMAT, formatVersion: FORMAT_VERSION, createdAt, schema }
  const digest = new ContentDigest(schema)
  const gzip = createGzip()
  // The file contains hashes of passwords.
  const written = pipe(gzip, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  // The error is thrown below. (A pipeline that begins with a generator sometimes never ends after one.)
  written.catch(() => undefined)
  const write = async (line: string) => {
    if (!gzip.write(line)) await Promise.race([once(gzip, 'drain'), written])
  }
  await write(toLine(header))
  for await (const page of pages) await write(digest.add(page))
  const summary = digest.summary()
  await write(toLine(summary))
  gzip.end()
  await written
  return summary
}

/**
 * Passes the contents of a backup to `work`, and returns its result. Throws `INVALID_REQUEST` if the
 * file is damaged, before the last page or instead of the header, and `UNAVAILABLE` if a later
 * release has written it or if it cannot be read.
 */
export async function readBackup<T>(
  path: string,
  work: (header: BackupHeader, contents: Contents) => Promise<T>,
): Promise<T> {
  const lines = linesIn(path)
  try {
    const header = toHeader((await lines.next()).value ?? '', path)
    return await work(header, { schema: header.schema, pages: pagesIn(path, lines, header) })
  } finally {
    await lines.return(undefined)
  }
}

/** Reads the lines of a compressed file. Throws `INVALID_REQUEST` if the last line has no end. */
async function* linesIn(path: string): AsyncGenerator<string, undefined> {
  const gunzip = createGunzip()
  // An error of one of the streams ends the iteration below.
  pipeline(createReadStream(path), gunzip, () => undefined)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  try {
    for await (const chunk of gunzip) {
      const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
      rest += first
      if (rest.length > MOST_LINE_LENGTH) throw damaged(path, 'a line is too long')
      for (const other of others) {
        yield rest
        rest = other
      }
    }
  } catch (error) {
    throw isFlagError(error) ? error : unreadable(path, error)
  }
  if (rest !== '') throw damaged(path, 'its end is missing')
}

function toHeader(line: string, path: string): BackupHeader {
  const header = parse(line, path)
  if (!('format' in header) || header.format !== FORMAT)
    throw damaged(path, 'its header is unknown')
  const { formatVersion, createdAt, schema } = header as Partial<BackupHeader>
  if (formatVersion !== FORMAT_VERSION) throw laterFormat(path, formatVersion)
  if (!isTexts(schema) || typeof createdAt !== 'string') {
    throw damaged(path, 'its header is incomplete')
  }
  assertSchema(schema)
  return { format: FORMAT, formatVersion, createdAt, schema }
}

/** Converts the lines after the header to pages. Verifies the summary after the last page. */
async function* pagesIn(
  path: string,
  lines: AsyncIterable<string>,
  { schema }: BackupHeader,
): AsyncGenerator<TablePage> {
  const digest = new ContentDigest(schema)
  let page = new GrowingPage('', [])
  for await (const line of lines) {
    const value = parse(line, path)
    if (Array.isArray(value)) {
      if (!page.accepts(value)) throw damaged(path, 'a row does not have the values of its columns')
      page.add(value, line.length)
      if (!page.isFull) continue
    }
    if (page.table !== '') {
      digest.add(page)
      yield page
    }
    if (Array.isArray(value)) page = new GrowingPage(page.table, page.columns)
    else if ('table' in value) page = toPage(value, path)
    else return assertSummary(digest.summary(), value, path)
  }
  throw damaged(path, 'its end is missing')
}

/** A page to which rows are added. */
class GrowingPage implements TablePage {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: TableRow[] = []
  #length = 0

  constructor(table: string, columns: readonly string[]) {
    this.table = table
    this.columns = columns
  }

  get isFull(): boolean {
    return this.rows.length >= PAGE_ROWS || this.#length >= PAGE_LENGTH
  }

  accepts(values: readonly unknown[]): values is TableRow {
    const isComplete = this.table !== '' && values.length === this.columns.length
    return isComplete && values.every((value) => value === null || typeof value !== 'object')
  }

  add(row: TableRow, length: number): void {
    this.rows.push(row)
    this.#length += length
  }
}

function toPage(value: object, path: string): GrowingPage {
  const { table, columns } = value as Partial<TablePage>
  if (typeof table === 'string' && table !== '' && isTexts(columns)) {
    return new GrowingPage(table, columns)
  }
  throw damaged(path, 'the columns of a table are unknown')
}

function assertSummary(found: ContentSummary, stated: object, path: string): void {
  if (JSON.stringify(found) === JSON.stringify(stated)) return
  throw damaged(path, 'its rows do not have the stated SHA-256')
}

function parse(line: string, path: string): object {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // The line is not JSON.
  }
  throw damaged(path, 'a line is not JSON')
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function damaged(path: string, reason: string): FlagError {
  const message = `The file ${path} is damaged or is not a backup: ${reason}.`
  return new FlagError('INVALID_REQUEST', message)
}

function laterFormat(path: string, version: unknown): FlagError {
  const message = `A later release has written the backup ${path} (format ${version}). Use that release or a newer one.`
  return new FlagError('UNAVAILABLE', message)
}

/** Translates an error of a stream: of the file system, of the compression or of the encoding. */
function unreadable(path: string, cause: unknown): FlagError {
  const isSystemError = cause instanceof Error && 'syscall' in cause
  if (!isSystemError) return damaged(path, cause instanceof Error ? cause.message : String(cause))
  return new FlagError('UNAVAILABLE', `The backup ${path} cannot be read.`, { cause })
}
