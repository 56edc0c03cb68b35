import { FlagError, type Issue, isFlagError } from '@ff/core'
import * as z from 'zod'
import { isMissing, wireFault } from './wire-faults.ts'

const MOST_ISSUES = 20
const LONGEST_PATH = 256

/**
 * Creates an `INVALID_REQUEST` error for one field. `path` contains the field names of the wire
 * format.
 */
export function invalid(path: string, message: string): FlagError {
  return invalidRequest([{ path, message }])
}

/**
 * Creates an `INVALID_REQUEST` error for several fields, of which at most 20 are listed. The
 * message of the error is that of the first issue.
 */
export function invalidRequest(issues: readonly Issue[]): FlagError {
  const first = issues[0]
  const message = first === undefined ? 'The request is not valid.' : sentenceOf(first)
  const details = { issues: issues.slice(0, MOST_ISSUES) }
  return new FlagError('INVALID_REQUEST', message, { details })
}

/**
 * Runs work on one field of a request, and adds the path of this field to the paths of the issues
 * of an error.
 */
export async function withinField<T>(field: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isFlagError(error) ? withinPath(field, error) : error
  }
}

function withinPath(field: string, error: FlagError): FlagError {
  const issues = error.details?.['issues'] as readonly Issue[] | undefined
  if (issues === undefined) return error
  const moved = issues.map(({ path, message }) => {
    return { path: path === '' ? field : `${field}.${path}`, message }
  })
  if (error.code === 'INVALID_REQUEST') return invalidRequest(moved)
  return new FlagError(error.code, error.message, { details: { issues: moved } })
}

/** Returns `true` if a value is an e-mail address of at most 254 characters. */
export function isEmail(value: unknown): boolean {
  return z.email().max(254).safeParse(value).success
}

/** Throws `INVALID_REQUEST` if a timestamp is present and not after `now`. */
export function assertInFuture(path: string, timestamp: string | null | undefined, now: string) {
  if (typeof timestamp === 'string' && timestamp <= now)
    throw invalid(path, 'must be in the future')
}

/** Throws `INVALID_REQUEST`, with the path of the first duplicate, if a text is listed twice. */
export function assertDistinct(texts: readonly string[], pathAt: (index: number) => string): void {
  const listed = new Set<string>()
  for (const [index, text] of texts.entries()) {
    if (listed.has(text)) throw invalid(pathAt(index), 'is listed twice')
    listed.add(text)
  }
}

/**
 * Decodes a value from the wire. Throws `INVALID_REQUEST`, with the wire fields of at most 20
 * issues.
 */
export function decodeWire<C extends z.ZodType>(codec: C, wire: unknown): z.output<C> {
  const decoded = z.safeDecode(codec, wire as z.input<C>, { error: wireFault })
  if (decoded.success) return decoded.data
  if (isReply(wire)) throw invalid('', 'The body is a whole reply: send only its field `data`.')
  const issues = decoded.error.issues.flatMap((issue) => {
    return isMissing(issue, wire)
      ? [{ path: pathOf(issue.path), message: 'is required' }]
      : toIssues(issue)
  })
  throw invalidRequest(issues)
}

/**
 * Encodes a value for the wire. Throws `INVALID_REQUEST`, with the wire fields of at most 20
 * issues.
 */
export function encodeWire<C extends z.ZodType>(codec: C, value: z.output<C>): z.input<C> {
  const encoded = z.safeEncode(codec, value, { error: wireFault })
  if (encoded.success) return encoded.data
  throw invalidRequest(encoded.error.issues.flatMap(toIssues))
}

/** Returns `true` for the envelope of a reply. */
function isReply(wire: unknown): boolean {
  return typeof wire === 'object' && wire !== null && 'statusCode' in wire && 'data' in wire
}

function toIssues(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code !== 'unrecognized_keys') {
    return [{ path: pathOf(issue.path), message: issue.message }]
  }
  return issue.keys.map((key) => ({
    path: pathOf([...issue.path, key]),
    message: 'is not a known field',
  }))
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.map(String).join('.').slice(0, LONGEST_PATH)
}

function sentenceOf({ path, message }: Issue): string {
  return path === '' ? message : `${path}: ${message}`
}
