import * as wire from '@ff/protocol/management'
import * as z from 'zod'

/** A JSON schema, or any other object of the document. */
export type Json = Readonly<Record<string, unknown>>

/** The JSON schemas of the wire format of codecs. */
export interface WireSchemas {
  /** The schemas of the named codecs, by name. */
  readonly named: Readonly<Record<string, Json>>
  /** Returns the schema of a codec, or a reference to the schema if the codec has a name. */
  of(codec: z.ZodType): Json
}

/** Returns a reference to a schema. */
export const refTo = (name: string): Json => refInto('schemas', name)

/** Returns a reference to a member of a group in `components`. */
export function refInto(group: string, name: string): Json {
  return { ['$ref']: `#/components/${group}/${name}` }
}

/** Returns the schema of an object with exactly these fields. */
export function closedObject(properties: Json): Json {
  return { ...openObject(properties), additionalProperties: false }
}

/** Returns the schema of an object with at least these fields. */
export function openObject(properties: Json): Json {
  return { type: 'object', properties, required: Object.keys(properties) }
}

/** Returns the fields of the envelope of a successful management response. */
export function envelopeFields(statusCode: number, data: Json): Json {
  return {
    statusCode: { type: 'integer', const: statusCode },
    message: { type: 'string', const: 'OK' },
    data,
  }
}

/** The prefix of temporary names, for schemas that are inlined. */
const UNNAMED = '~'
const JSON_VALUE: Json = { description: 'Any JSON.' }
/** Formats that make the pattern of a schema redundant. */
const FORMATS: ReadonlySet<unknown> = new Set(['uuid', 'email', 'date-time'])

/**
 * Returns the JSON schemas of `codecs`. The codecs that `@ff/protocol` exports and those in `named`
 * have names: `organizationCodec` becomes `Organization`. Other schemas are inlined.
 */
export function wireSchemas(
  codecs: readonly z.ZodType[],
  named: Readonly<Record<string, z.ZodType>>,
): WireSchemas {
  const registry = z.registry<{ id?: string }>()
  for (const [name, codec] of Object.entries({ ...wire, ...named })) {
    if (codec instanceof z.ZodType) registry.add(codec, { id: schemaName(name) })
  }
  for (const [index, codec] of codecs.entries()) {
    if (!registry.has(codec)) registry.add(codec, { id: `${UNNAMED}${index}` })
  }
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ zodSchema, jsonSchema }) => simplify(zodSchema, jsonSchema),
  })
  const known = Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema, $id, ...schema }]) => [name, schema]),
  )
  const inline = (schema: unknown) => resolve(schema, known)
  const isNamed = (name: string) => !name.startsWith(UNNAMED) && !name.startsWith('__')
  const all = Object.entries(known).filter(([name]) => isNamed(name))
  return {
    named: {
      ...Object.fromEntries(all.map(([name, schema]) => [name, inline(schema) as Json])),
      JsonValue: JSON_VALUE,
    },
    of: (codec) => {
      const name = registry.get(codec)?.id ?? ''
      return inline(refTo(name)) as Json
    },
  }
}

function schemaName(exported: string): string {
  const name = exported.replace(/(Codec|Schema)$/, '')
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** Removes redundant keywords, and sets the types of numbers and booleans in URLs. */
function simplify(codec: z.core.$ZodTypes, schema: z.core.JSONSchema.BaseSchema): void {
  // The keyword is for fields that requests must not set, not for the `readonly` of TypeScript.
  if (codec._zod.def.type === 'readonly') delete schema.readOnly
  if (schema.readOnly === true) describeReadOnly(schema)
  if (FORMATS.has(schema.format)) delete schema.pattern
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (isPlainText(schema.propertyNames)) delete schema.propertyNames
  // Validators compute with binary fractions, so that 26.65 is not a multiple of 0.001.
  if (!Number.isInteger(schema.multipleOf)) delete schema.multipleOf
  // Zod omits defaults from input schemas, but the defaults in the endpoint table are input values.
  const { default: unlessGiven } = z.globalRegistry.get(codec) ?? {}
  if (unlessGiven !== undefined) schema.default = unlessGiven as typeof schema.default
  if (codec._zod.def.type !== 'pipe') return
  const { out } = codec._zod.def
  if (out instanceof z.ZodNumber || out instanceof z.ZodBoolean) {
    const { $schema, ...meant } = z.toJSONSchema(out)
    for (const name of Object.keys(schema)) delete schema[name]
    Object.assign(schema, meant)
  }
}

/** Replaces the schema of a read-only field, which decodes any value, by that of the stored value. */
function describeReadOnly(schema: z.core.JSONSchema.BaseSchema): void {
  const [stored] = schema.anyOf ?? []
  delete schema.anyOf
  Object.assign(schema, stored)
}

function isPlainText(schema: unknown): boolean {
  return JSON.stringify(schema) === '{"type":"string"}'
}

/** Replaces references to unnamed schemas with the schemas themselves. */
function resolve(schema: unknown, known: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(schema)) return schema.map((each) => resolve(each, known))
  if (typeof schema !== 'object' || schema === null) return schema
  const ref = (schema as Json)['$ref']
  if (typeof ref === 'string') {
    // The only recursive schema without a name is `z.json()`.
    if (ref.includes('__shared')) return refTo('JsonValue')
    const name = ref.slice(ref.lastIndexOf('/') + 1)
    if (name.startsWith(UNNAMED)) return resolve(known[name], known)
  }
  const members = Object.entries(schema).map(([name, each]) => [name, resolve(each, known)])
  return Object.fromEntries(members)
}
