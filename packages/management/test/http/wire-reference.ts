import { openApiDocument } from '../../src/openapi/openapi.ts'

// biome-ignore lint/suspicious/noExplicitAny: the page reads arbitrary parts of the document
type Json = any

const INTRODUCTION = `# Wire reference

This page lists every operation and every schema. It is generated from the tables that define the
routes of the server. For tools, \`GET /openapi.json\` returns an OpenAPI document with examples,
which the self-hosted server displays at \`/docs\`.

A management response is \`{ statusCode, message, data }\`. This page lists the schema of \`data\`.
Operations under *Evaluation* require an SDK key in \`x-api-key\`, and their responses have no such
envelope; see [transports](transports.md), also for the WebSocket. All others require
\`Authorization: Bearer <ACCESS_TOKEN>\` unless stated otherwise; see [access](access.md).

A page is \`{ data, meta: { total, page, pageCount } }\`. PUT requests are partial: absent
fields stay unchanged, and \`null\` clears a field. PUT and DELETE accept \`If-Match\`, and POST and PUT
accept \`Idempotency-Key\`. Unknown fields are refused with 400; \`data.issues\` lists each error. Read-only
fields are accepted if they have their stored values. In the path of a project, \`projectId\`,
\`envId\`, \`flagId\` and \`segmentId\` are ids or keys; see
[ids and keys](managing-flags.md#ids-and-keys).
`

/** Returns the text of the page \`docs/wire-reference.md\`. */
export function wireReference(): string {
  const document: Json = openApiDocument({ basePath: '' })
  const operations: Json[] = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Json).map(([method, operation]: [string, Json]) => {
      return { ...operation, place: `${method.toUpperCase()} ${path}` }
    }),
  )
  const tags = [...new Set(operations.map(({ tags: [tag] }) => tag))]
  const groups = tags.map((tag) => {
    const members = operations.filter((each) => each.tags[0] === tag)
    return `## ${tag}\n\n${members.map(operationText).join('\n')}`
  })
  const shapes = Object.entries(document.components.schemas)
    .filter(([, schema]) => (schema as Json).properties !== undefined || isUnion(schema))
    .map(([name, schema]) => (isUnion(schema) ? unionText(name, schema) : shapeText(name, schema)))
  return [INTRODUCTION, ...groups, `# Schemas\n\n${shapes.join('\n')}`].join('\n')
}

function operationText(operation: Json): string {
  const { place, summary, description, requestBody, responses } = operation
  const query = (operation.parameters ?? []).filter((each: Json) => each.in === 'query')
  const [status, success]: [string, Json] = Object.entries(responses)[0] as never
  const body = requestBody?.content['application/json'].schema
  const [media]: Json[] = Object.values(success.content ?? {})
  const answer = media?.schema
  const data = answer?.properties?.statusCode === undefined ? answer : answer.properties.data
  const lines = [
    `### \`${place}\`\n`,
    `${summary}.${description === undefined ? '' : ` ${description}`}\n`,
    ...query.map(
      (each: Json) => `- Query \`${each.name}\`${mark(each.required)}: ${typeText(each.schema)}`,
    ),
    ...(body === undefined ? [] : [`- Body: ${typeText(body)}`]),
    `- Response ${status}: ${data === undefined ? 'nothing' : typeText(data)}`,
  ]
  return `${lines.join('\n')}\n`
}

function shapeText(name: string, { description, properties, required = [] }: Json): string {
  const rows = Object.entries(properties).map(([field, schema]) => {
    const type = typeText(schema) + ((schema as Json).readOnly === true ? '; read-only' : '')
    return `| \`${field}\` | ${type} | ${required.includes(field) ? 'yes' : ''} |`
  })
  const head = ['| Field | Type | Required |', '| --- | --- | --- |']
  const text = description === undefined ? '' : `${description}\n\n`
  return `## ${name}\n\n${text}${[...head, ...rows].join('\n')}\n`
}

/** Returns `true` for a schema with several forms of an object. */
function isUnion({ anyOf = [] }: Json): boolean {
  return anyOf.length > 0 && anyOf.every((each: Json) => each.properties !== undefined)
}

function unionText(name: string, { description, anyOf }: Json): string {
  const text = description === undefined ? '' : `${description}\n\n`
  return `## ${name}\n\n${text}One of:\n\n${anyOf.map((each: Json) => `- ${typeText(each)}`).join('\n')}\n`
}

const mark = (isRequired: boolean) => (isRequired ? ' (required)' : '')

/** Returns a short description of a schema. */
function typeText(schema: Json): string {
  if (schema.$ref !== undefined) return refText(schema.$ref.split('/').at(-1))
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(' or ')
  if (schema.oneOf !== undefined) return schema.oneOf.map(typeText).join(' or ')
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum !== undefined)
    return schema.enum.map((each: Json) => `\`${each}\``).join(', ') + defaultText(schema)
  if (schema.type === 'array')
    return `list of ${typeText(schema.items ?? {})}${range(schema, 'Items')}`
  if (schema.properties !== undefined) return objectText(schema)
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object')
    return `object of ${typeText(schema.additionalProperties)}`
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'any JSON')
  const isReference = schema.description === 'An id or a key.'
  const text = isReference ? 'id or key' : (schema.format ?? type)
  return `${text}${range(schema, 'Length')}${range(schema, 'imum')}${defaultText(schema)}`
}

function refText(name: string): string {
  return name === 'JsonValue' || name === 'EmptyContext' || name === 'FlagValues'
    ? { JsonValue: 'any JSON', EmptyContext: '`{}`', FlagValues: 'object: flag key → value' }[name]
    : `[${name}](#${name.toLowerCase()})`
}

function objectText({ properties, required = [] }: Json): string {
  const { data, meta } = properties
  if (data?.items !== undefined && meta !== undefined) return `page of ${typeText(data.items)}`
  const fields = Object.entries(properties).map(([name, schema]) => {
    return `\`${name}\`${required.includes(name) ? '' : '?'}: ${typeText(schema)}`
  })
  return `{ ${fields.join('; ')} }`
}

function range(schema: Json, suffix: string): string {
  const [min, max] = [schema[`min${suffix}`], schema[`max${suffix}`]]
  const unit = { Items: ' entries', Length: ' characters', imum: '' }[suffix]
  if (min !== undefined && max !== undefined) return `, ${min} to ${max}${unit}`
  if (min !== undefined) return `, at least ${min}${unit}`
  return max === undefined ? '' : `, at most ${max}${unit}`
}

function defaultText(schema: Json): string {
  return schema.default === undefined ? '' : `; default \`${schema.default}\``
}
