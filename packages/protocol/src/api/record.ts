import * as z from 'zod'

/** A codec that decodes wire names and values to field names and values, and encodes them back. */
export type Wire<T, W = Readonly<Record<string, unknown>>> = z.ZodType<T, W>

/** The wire name of a field: `orderIndex` becomes `order_index`. */
export type WireName<Field, Done extends string = ''> = Field extends `${infer Letter}${infer Rest}`
  ? WireName<Rest, `${Done}${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}`>
  : Done

type Shape = Readonly<Record<string, z.ZodType>>
/** The wire names that differ from the derived wire names, by field. */
type Exceptions<S extends Shape> = { readonly [F in keyof S]?: string }
type Fields<S extends Shape> = z.output<z.ZodObject<S>>

/** The wire format of a record. */
type WireFields<S extends Shape, E> = {
  [F in keyof z.input<z.ZodObject<S>> as F extends keyof E
    ? Extract<E[F], string>
    : WireName<F>]: z.input<z.ZodObject<S>>[F]
}

/**
 * Returns the codec of an object. The wire name of a field is its name in snake_case, unless
 * `exceptions` contains another name. Only declared fields are renamed, not the contents of their
 * values. Decoding refuses unknown names; encoding omits them.
 *
 * The issues of a decoding error contain wire names, because the decoded object has wire names.
 *
 * @example
 * const codec = record({ flagId: id, name: z.string() })
 * z.decode(codec, { flag_id: '…', name: 'a' }) // { flagId: '…', name: 'a' }
 */
export function record<S extends Shape, const E extends Exceptions<S> = Record<never, string>>(
  shape: S,
  exceptions?: E,
): Wire<Fields<S>, WireFields<S, E>> {
  return renaming(shape, (field) => exceptions?.[field] ?? toSnakeCase(field)) as never
}

/** Returns the codec of an object with its field names as wire names, except for `exceptions`. */
export function camelCaseRecord<S extends Shape>(
  shape: S,
  exceptions: Exceptions<S> = {},
): Wire<Fields<S>> {
  return renaming(shape, (field) => exceptions[field] ?? field)
}

/** The read-only fields of a codec of `changesOf`: their wire names by field. */
const readOnlyFields = new WeakMap<z.ZodType, ReadonlyMap<string, string>>()

/**
 * Returns the codec of the body that changes a resource with the fields `resource`. The type
 * contains only the `writable` fields. Decoding also accepts the other fields of the resource, with
 * any value, so that a client can send back the record that it has read. They are read-only: the
 * caller compares them with the stored values.
 *
 * @example
 * const codec = changesOf({ id, name, createdAt: timestamp }, { name: name.optional() })
 */
export function changesOf<
  R extends Shape,
  S extends Shape,
  const E extends { readonly [F in keyof R | keyof S]?: string } = Record<never, string>,
>(resource: R, writable: S, exceptions?: E): Wire<Fields<S>, WireFields<S, E>> {
  const fixed = Object.entries(resource).filter(([field]) => !(field in writable))
  const lenient = fixed.map(([field, schema]) => [field, readOnly(schema)] as const)
  const codec = record({ ...Object.fromEntries(lenient), ...writable }, exceptions as never)
  const names: Exceptions<Shape> = exceptions ?? {}
  const wireNames = fixed.map(([field]) => [field, names[field] ?? toSnakeCase(field)] as const)
  readOnlyFields.set(codec, new Map(wireNames))
  return codec as never
}

/** Returns the read-only fields of a body: their wire names by field. See `changesOf`. */
export function readOnlyFieldsOf(body: z.ZodType): ReadonlyMap<string, string> {
  return readOnlyFields.get(body) ?? new Map()
}

/** Returns the codec of an optional field that decodes a value that is not valid to itself. */
function readOnly(schema: z.ZodType): z.ZodType {
  return z.union([schema, z.unknown()]).optional().meta({ readOnly: true })
}

/** Returns a camelCase name in snake_case: `orderIndex` becomes `order_index`. */
export function toSnakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Creates the codec when it is first used, because most programs use only a few of all codecs. */
function renaming<S extends Shape>(
  shape: S,
  wireNameOf: (field: string) => string,
): Wire<Fields<S>> {
  const codec: z.ZodType = z.lazy(() => codecOf<S>(fieldsOf(codec) ?? []))
  let fields: readonly RecordField[] | undefined
  recordFields.set(codec, () => {
    fields ??= Object.entries(shape).map(([field, schema]) => {
      return { field, schema, wireName: wireNameOf(field) }
    })
    return fields
  })
  return codec as Wire<Fields<S>>
}

function codecOf<S extends Shape>(fields: readonly RecordField[]): z.ZodType<Fields<S>> {
  const wire = fields.map(({ wireName, schema }) => [wireName, schema] as const)
  const toWire = new Map(fields.map(({ field, wireName }) => [field, wireName]))
  const fromWire = new Map(fields.map(({ field, wireName }) => [wireName, field]))
  return z.codec(z.strictObject(Object.fromEntries(wire)), z.custom<Fields<S>>(), {
    decode: (object) => rename(object, fromWire) as Fields<S>,
    // The schema refuses a value that is not an object, such as a value of another member of a union.
    encode: (value) => (isObject(value) ? rename(value, toWire) : value),
  })
}

/** A field of a record: its name, its name on the wire, and the schema of its value. */
export interface RecordField {
  readonly field: string
  readonly wireName: string
  readonly schema: z.ZodType
}

const recordFields = new WeakMap<z.ZodType, () => readonly RecordField[]>()

/** Returns the fields of a codec of `record`; `undefined` for any other schema. */
export function fieldsOf(codec: z.ZodType): readonly RecordField[] | undefined {
  return recordFields.get(codec)?.()
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function rename(object: object, names: ReadonlyMap<string, string>): Record<string, unknown> {
  const renamed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(object)) {
    const other = names.get(name)
    if (other !== undefined) renamed[other] = value
  }
  return renamed
}
