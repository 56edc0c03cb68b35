import { isJsonObject } from '@ff/core'
import { fieldsOf } from '@ff/protocol/management'
import * as z from 'zod'

/** A member of an object: the field of the value, its wire name, and its codec. */
interface Member {
  readonly field: string
  readonly wireName: string
  readonly schema: z.ZodType
}

/**
 * Encodes a result as JSON text. A list of objects, and an object with lists, such as a page, is
 * encoded part by part, because it can be long. The caller can pause the work at each `yield`.
 */
export function* encodeJson(
  codec: z.ZodType,
  result: unknown,
): Generator<undefined, string | undefined> {
  if (codec instanceof z.ZodArray && Array.isArray(result) && isLong(codec)) {
    const items: string[] = []
    for (const item of result)
      items.push((yield* encodeJson(codec.element as z.ZodType, item)) ?? 'null')
    return `[${items.join(',')}]`
  }
  const members = membersOf(codec)
  if (isJsonObject(result) && members.some(({ schema }) => schema instanceof z.ZodArray)) {
    const texts: string[] = []
    for (const { field, wireName, schema } of members) {
      if (schema instanceof z.ZodExactOptional && !Object.hasOwn(result, field)) continue
      const text = yield* encodeJson(schema, result[field])
      if (text !== undefined) texts.push(`${JSON.stringify(wireName)}:${text}`)
    }
    return `{${texts.join(',')}}`
  }
  const data = z.encode(codec, result)
  yield
  return JSON.stringify(data)
}

function isLong({ element }: z.ZodArray): boolean {
  return !(element instanceof z.ZodString)
}

/** Returns the members of an object codec; none for any other codec. */
function membersOf(codec: z.ZodType): readonly Member[] {
  if (!(codec instanceof z.ZodObject)) return fieldsOf(codec) ?? []
  const shape = Object.entries<z.ZodType>(codec.shape)
  return shape.map(([field, schema]) => ({ field, wireName: field, schema }))
}
