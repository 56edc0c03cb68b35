import { fieldsOf } from '@ff/protocol/management'
import type * as z from 'zod'
import type { FieldIssue } from './api-error.ts'

/** The parts of a zod definition in which other schemas are nested. */
interface Nesting {
  readonly innerType?: z.ZodType
  readonly element?: z.ZodType
  readonly options?: readonly z.ZodType[]
  readonly in?: z.ZodType
}

/** Returns issues with the property names of the codec in place of its wire names. */
export function toFieldIssues(
  codec: z.ZodType,
  issues: readonly FieldIssue[],
): readonly FieldIssue[] {
  return issues.map(({ path, message }) => {
    const names = path === '' ? [] : path.split('.')
    return { path: fieldNames(codec, names).join('.'), message }
  })
}

/** Returns the property names of a path with wire names. An unknown part of the path stays. */
function fieldNames(codec: z.ZodType, names: readonly string[]): readonly string[] {
  const [name, ...rest] = names
  if (name === undefined) return []
  for (const schema of alternatives(codec)) {
    const found = fieldsOf(schema)?.find(({ wireName }) => wireName === name)
    if (found !== undefined) return [found.field, ...fieldNames(found.schema, rest)]
    const { element } = nestingOf(schema)
    if (element !== undefined && /^\d+$/.test(name)) return [name, ...fieldNames(element, rest)]
  }
  return names
}

/** Returns the records and arrays that a schema consists of, without optional, nullable and union. */
function alternatives(schema: z.ZodType): readonly z.ZodType[] {
  if (fieldsOf(schema) !== undefined) return [schema]
  const { innerType, element, options, in: input } = nestingOf(schema)
  if (element !== undefined) return [schema]
  if (options !== undefined) return options.flatMap(alternatives)
  const inner = innerType ?? input
  return inner === undefined ? [] : alternatives(inner)
}

function nestingOf(schema: z.ZodType): Nesting {
  return schema.def as Nesting
}
