import { type EndpointName, endpoints } from '@ff/protocol/management'
import { DOCS_PATH } from '../openapi/docs-page.ts'
import { OPENAPI_PATH } from '../openapi/openapi.ts'

/** A path of the endpoint table, with the endpoint of each of its methods. */
interface Template {
  readonly segments: readonly string[]
  readonly methods: ReadonlyMap<string, EndpointName>
}

/** The path of the endpoint table that matches the path of a request. */
export interface Route {
  /** The endpoint of each method of this path. */
  readonly methods: ReadonlyMap<string, EndpointName>
  /** The values of the path parameters, not decoded, by their names in the endpoint table. */
  readonly params: Readonly<Record<string, string>>
}

const TEMPLATES = templatesOf(endpoints)

/**
 * Returns the route of a path; `undefined` if the endpoint table has no such path. Segments are
 * compared byte by byte and are not decoded, normalised or trimmed, so that exactly one spelling of
 * a path reaches an endpoint.
 */
export function findRoute(path: string): Route | undefined {
  const segments = path.split('/')
  for (const template of TEMPLATES) {
    const params = paramsOf(template, segments)
    if (params !== undefined) return { methods: template.methods, params }
  }
  return undefined
}

/** Returns the path template of the endpoints at a path; `undefined` if there are none. */
export function templateOf(path: string): string | undefined {
  if (path === OPENAPI_PATH || path === DOCS_PATH) return path
  if (path.startsWith(`${DOCS_PATH}/`)) return `${DOCS_PATH}/*`
  const segments = path.split('/')
  const found = TEMPLATES.find((template) => paramsOf(template, segments) !== undefined)
  return found?.segments.join('/')
}

function paramsOf(template: Template, segments: readonly string[]): Route['params'] | undefined {
  if (segments.length !== template.segments.length) return undefined
  const params: [string, string][] = []
  for (const [index, expected] of template.segments.entries()) {
    const segment = segments[index] ?? ''
    if (isParameter(expected) && segment !== '') params.push([expected.slice(1, -1), segment])
    else if (segment !== expected) return undefined
  }
  return Object.fromEntries(params)
}

/**
 * Returns the paths of the table, sorted by their number of parameters, so that a fixed segment
 * takes precedence over a parameter.
 */
function templatesOf(table: typeof endpoints): readonly Template[] {
  const methods = new Map<string, Map<string, EndpointName>>()
  for (const name of Object.keys(table) as EndpointName[]) {
    const { method, path } = table[name]
    methods.set(path, (methods.get(path) ?? new Map()).set(method, name))
  }
  const templates = [...methods].map(([path, byMethod]) => {
    return { segments: path.split('/'), methods: byMethod }
  })
  return templates.sort((a, b) => countParameters(a) - countParameters(b))
}

function countParameters({ segments }: Template): number {
  return segments.filter(isParameter).length
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{')
}
