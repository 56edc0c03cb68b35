import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** The parts of the OpenAPI document that are needed to check responses. */
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, unknown>>
}

/** A response, and the request to which it belongs. */
export interface CheckedResponse {
  readonly method: string
  /** The path without its query. */
  readonly path: string
  readonly status: number
  readonly body: unknown
}

/** Checks responses against an OpenAPI document and records the operations. */
export class OpenApi {
  /** The ids of the operations that were checked. */
  readonly seen = new Set<string>()
  readonly #document: Document
  readonly #checker = new Ajv2020({ strict: false, allErrors: true })

  constructor(document: unknown) {
    this.#document = document as Document
    addFormats.default(this.#checker)
    this.#checker.addSchema(document as object, 'openapi')
  }

  /** Throws if the document does not describe a response with this status and body. */
  check({ method, path, status, body }: CheckedResponse): void {
    const place = `${method} ${path} → ${status}`
    const template = this.#templateOf(method, path)
    const operation = this.#document.paths[template ?? '']?.[method.toLowerCase()]
    if (template === undefined || operation === undefined) {
      throw new Error(`${place}: not in the document`)
    }
    this.seen.add(operation.operationId)
    const pointer = ['paths', template, method.toLowerCase(), 'responses', String(status)]
    const response = this.#follow(pointer)
    const validate = this.#checker.getSchema(
      `openapi#/${[...response, 'content', 'application/json', 'schema'].map(escaped).join('/')}`,
    )
    if (validate === undefined) throw new Error(`${place}: no such response in the document`)
    if (validate(body)) return
    throw new Error(
      `${place}: ${this.#checker.errorsText(validate.errors)}\n${JSON.stringify(body)}`,
    )
  }

  /** Returns the matching path of the document. Fixed segments take precedence over parameters. */
  #templateOf(method: string, path: string): string | undefined {
    const segments = path.split('/')
    const fitting = Object.keys(this.#document.paths).filter((template) => {
      const parts = template.split('/')
      const isSame = (part: string, at: number) => part === segments[at] || part.startsWith('{')
      const has = this.#document.paths[template]?.[method.toLowerCase()] !== undefined
      return has && parts.length === segments.length && parts.every(isSame)
    })
    const parameters = (template: string) => template.split('{').length
    return fitting.sort((left, right) => parameters(left) - parameters(right))[0]
  }

  /** Returns the location to which a pointer leads, after following a reference. */
  #follow(pointer: readonly string[]): readonly string[] {
    let found: unknown = this.#document
    for (const name of pointer) found = memberOf(found, name)
    const reference = memberOf(found, '$ref')
    return typeof reference === 'string' ? reference.slice(2).split('/') : pointer
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
