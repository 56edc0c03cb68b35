import type * as z from 'zod'

type RawIssue = z.core.$ZodRawIssue

/** The description of an expected type, by its name in zod. */
const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
}

/**
 * Returns the message for an invalid value from the wire, in the style of the other messages.
 * Returns `undefined` if the message of zod or of the schema is used instead.
 */
export function wireFault(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return sentenceOf(EXPECTED[issue.expected])
    case 'invalid_value':
      return sentenceOf(choiceOf(issue.values))
    case 'invalid_union':
      return 'options' in issue ? sentenceOf(choiceOf(issue.options as unknown[])) : undefined
    case 'invalid_format':
      return issue.format === 'datetime'
        ? 'must be a time with date and zone, such as 2030-01-31T12:00:00Z'
        : undefined
    case 'too_small':
      return boundOf(issue.origin, issue.minimum, issue.inclusive ? 'at least' : 'more than')
    case 'too_big':
      return boundOf(issue.origin, issue.maximum, issue.inclusive ? 'at most' : 'less than')
    default:
      return undefined
  }
}

/** Returns `true` if an issue is about a required value that is absent. */
export function isMissing(issue: z.core.$ZodIssue, wire: unknown): boolean {
  if (issue.code === 'custom' || issue.code === 'unrecognized_keys') return false
  return valueAt(wire, issue.path) === undefined
}

function valueAt(wire: unknown, path: readonly PropertyKey[]): unknown {
  let value = wire
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Readonly<Record<PropertyKey, unknown>>)[step]
  }
  return value
}

function sentenceOf(wanted: string | undefined): string | undefined {
  return wanted === undefined ? undefined : `must be ${wanted}`
}

function choiceOf(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value))
  return texts.length === 1 ? String(texts[0]) : `one of ${texts.join(', ')}`
}

function boundOf(origin: string, bound: unknown, relation: string): string | undefined {
  if (origin === 'number' || origin === 'int') return `must be ${relation} ${bound}`
  const unit = { string: 'characters', array: 'entries' }[origin]
  if (unit === undefined) return undefined
  if (relation === 'at least' && bound === 1) return 'must not be empty'
  return `must have ${relation} ${bound} ${unit}`
}
