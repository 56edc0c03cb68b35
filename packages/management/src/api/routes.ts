import { type EndpointName, endpoints } from '@ff/protocol/management'

/** One path of the endpoint table, and what its methods do. */
interface Template {
  readonly segments: readonly string[]
  readonly methods: ReadonlyMap<string, EndpointName>
}

/** A request's path, recognised. */
export interface Route {
  /** Which endpoint each method of this path is. */
  readonly methods: ReadonlyMap<string, EndpointName>
  /** By the names of the endpoint table, exactly as they stand in the path. */
  readonly params: Readonly<Record<string, string>>
}

const TEMPLATES = templatesOf(endpoints)

/**
 * Finds a path in the endpoint table. Segments are compared exactly, byte for byte: nothing is
 * decoded, normalised or trimmed, so no spelling of a path but its own ever reaches an endpoint.
 */
export function findRoute(path: string): Route | undefined {
  const segments = path.split('/')
  for (const template of TEMPLATES) {
    const params = paramsOf(template, segments)
    if (params !== undefined) return { methods: template.methods, params }
  }
  return undefined
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

/** Those with fewer parameters come first, so that fixed segments win. */
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
