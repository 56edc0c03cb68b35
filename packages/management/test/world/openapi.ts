import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** An OpenAPI document, as it was parsed. */
export type OpenApi = Readonly<Record<string, unknown>>

/** One answer of a server. */
export interface Answered {
  readonly method: string
  /** Below the base path, without a query. */
  readonly path: string
  readonly status: number
  /** Parsed; of JSON lines, the list of them; undefined when there was none. */
  readonly body: unknown
}

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into freely
type Json = any

const checkers = new WeakMap<OpenApi, Ajv2020>()

/** Whether the document tells of such an operation. */
export function isInOpenApi(
  document: OpenApi,
  { method, path }: Pick<Answered, 'method' | 'path'>,
) {
  return templateOf(document, method, path) !== undefined
}

/** Throws unless the document promises such an answer, and its schema takes this one. */
export function expectToFitOpenApi(document: OpenApi, answered: Answered): void {
  const { method, path, status, body } = answered
  const place = `${method} ${path} → ${status}`
  const template = templateOf(document, method, path)
  if (template === undefined) throw new Error(`${place}: the document has no such operation`)
  const pointer = ['paths', template, method.toLowerCase(), 'responses', String(status)]
  const { found, at } = follow(document, pointer)
  if (found === undefined) throw new Error(`${place}: the document promises no such status`)
  const [type] = Object.keys(found.content ?? {})
  if (type === undefined) {
    if (body !== undefined) throw new Error(`${place}: the document promises no body`)
    return
  }
  const isLines = type === 'application/x-ndjson'
  for (const each of isLines ? (body as unknown[]) : [body]) {
    expectValid(document, [...at, 'content', type, 'schema'], each, place)
  }
}

/** Throws unless a value fits the schema at this place of the document. */
export function expectValid(
  document: OpenApi,
  pointer: readonly string[],
  value: unknown,
  place: string,
): void {
  const checker = checkerOf(document)
  const validate = checker.getSchema(`openapi#${pointerText(pointer)}`)
  if (validate === undefined) throw new Error(`${place}: no schema at ${pointerText(pointer)}`)
  if (validate(value)) return
  const faults = checker.errorsText(validate.errors, { dataVar: 'body' })
  throw new Error(`${place}: ${faults}\n${String(JSON.stringify(value)).slice(0, 2000)}`)
}

function checkerOf(document: OpenApi): Ajv2020 {
  const known = checkers.get(document)
  if (known !== undefined) return known
  const checker = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(checker)
  checker.addSchema(document, 'openapi')
  checkers.set(document, checker)
  return checker
}

/** The path of the document that such a request belongs to, if its operation is described. */
function templateOf(document: Json, method: string, path: string): string | undefined {
  const segments = path.split('/')
  const fits = (template: string) => {
    const expected = template.split('/')
    return (
      expected.length === segments.length &&
      expected.every((part, index) => part === segments[index] || part.startsWith('{'))
    )
  }
  const parameters = (template: string) => template.split('{').length
  // As in the router, fixed segments win before the method is looked at, and `get` is no method.
  const [template] = Object.keys(document.paths)
    .filter(fits)
    .sort((a, b) => parameters(a) - parameters(b))
  const methods = Object.keys(template === undefined ? {} : document.paths[template])
  return methods.some((each) => each.toUpperCase() === method) ? template : undefined
}

/** What stands at a pointer, through references. */
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
