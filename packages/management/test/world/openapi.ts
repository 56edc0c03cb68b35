import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** A parsed OpenAPI document. */
export type OpenApi = Readonly<Record<string, unknown>>

/** A response of a server. */
export interface DescribedResponse {
  readonly method: string
  /** The path without base path and query. */
  readonly path: string
  readonly status: number
  /** The parsed body; a list for JSON lines; `undefined` without a body. */
  readonly body: unknown
}

// biome-ignore lint/suspicious/noExplicitAny: arbitrary parts of the document are read
type Json = any

interface PathTemplate {
  readonly template: string
  /** The segments of the template. */
  readonly expected: readonly string[]
  /** The methods of the path, in upper case. */
  readonly methods: ReadonlySet<string>
}

const checkers = new WeakMap<OpenApi, Ajv2020>()
const templates = new WeakMap<OpenApi, readonly PathTemplate[]>()

/** Returns `true` if the document describes an operation. */
export function isInOpenApi(
  document: OpenApi,
  { method, path }: Pick<DescribedResponse, 'method' | 'path'>,
) {
  return templateOf(document, method, path) !== undefined
}

/** Throws if the document does not describe a response with this status and body. */
export function expectToFitOpenApi(document: OpenApi, response: DescribedResponse): void {
  const { method, path, status, body } = response
  const place = `${method} ${path} → ${status}`
  const template = templateOf(document, method, path)
  if (template === undefined) throw new Error(`${place}: the document has no such operation.`)
  const pointer = ['paths', template, method.toLowerCase(), 'responses', String(status)]
  const { found, at } = follow(document, pointer)
  if (found === undefined) throw new Error(`${place}: the document does not describe this status.`)
  const [type] = Object.keys(found.content ?? {})
  if (type === undefined) {
    if (body !== undefined) throw new Error(`${place}: the document describes no body.`)
    return
  }
  const isLines = type === 'application/x-ndjson' || type === 'text/event-stream'
  for (const each of isLines ? (body as unknown[]) : [body]) {
    expectValid(document, [...at, 'content', type, 'schema'], each, place)
  }
}

/** Throws if a value does not match the schema at a pointer of the document. */
export function expectValid(
  document: OpenApi,
  pointer: readonly string[],
  value: unknown,
  place: string,
): void {
  const checker = checkerOf(document)
  const validate = checker.getSchema(`openapi#${pointerText(pointer)}`)
  if (validate === undefined)
    throw new Error(`${place}: there is no schema at ${pointerText(pointer)}.`)
  if (validate(value)) return
  const faults = checker.errorsText(validate.errors, { dataVar: 'body' })
  throw new Error(`${place}: ${faults}\n${String(JSON.stringify(value)).slice(0, 2000)}`)
}

function checkerOf(document: OpenApi): Ajv2020 {
  const cached = checkers.get(document)
  if (cached !== undefined) return cached
  const checker = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(checker)
  checker.addSchema(document, 'openapi')
  checkers.set(document, checker)
  return checker
}

/** Returns the path template of a request; `undefined` if the operation is not described. */
function templateOf(document: OpenApi, method: string, path: string): string | undefined {
  const segments = path.split('/')
  const found = templatesOf(document).find(
    ({ expected }) =>
      expected.length === segments.length &&
      expected.every((part, index) => part === segments[index] || part.startsWith('{')),
  )
  return found?.methods.has(method) ? found.template : undefined
}

/** Returns the path templates of a document in their order of precedence. */
function templatesOf(document: OpenApi): readonly PathTemplate[] {
  const cached = templates.get(document)
  if (cached !== undefined) return cached
  const parameters = ({ template }: PathTemplate) => template.split('{').length
  // As in the router, fixed segments have precedence over parameters, and methods are upper-case.
  const sorted = Object.entries(document['paths'] as Json)
    .map(([template, operations]) => ({
      template,
      expected: template.split('/'),
      methods: new Set(Object.keys(operations as Json).map((each) => each.toUpperCase())),
    }))
    .sort((a, b) => parameters(a) - parameters(b))
  templates.set(document, sorted)
  return sorted
}

/** Returns the value at a pointer and follows references. */
function follow(document: Json, pointer: readonly string[]): { found: Json; at: string[] } {
  let found = document
  let at: string[] = []
  for (const name of pointer) {
    found = found?.[name]
    at.push(name)
    if (typeof found?.$ref !== 'string') continue
    at = found.$ref.slice(2).split('/')
    found = at.reduce((value, part) => value?.[part], document)
  }
  return { found, at }
}

function pointerText(pointer: readonly string[]): string {
  const escaped = pointer.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
  return `/${escaped.map(encodeURIComponent).join('/')}`
}
