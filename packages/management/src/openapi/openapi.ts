import { sdkSchemas } from '@ff/protocol/management'
import { isTagNamedIn } from '@ff/protocol/sdk'
import { type Exchange, type Reply, sha256 } from '@ff/server/plane'
import { errorSchemas, securitySchemes, sharedHeaders, sharedResponses } from './answers.ts'
import { managementPaths, sharedParameters, tableCodecs } from './management-operations.ts'
import { type Json, wireSchemas } from './schemas.ts'
import { sdkCodecs } from './sdk-codecs.ts'
import { sdkPaths } from './sdk-operations.ts'
import { serverPaths } from './server-operations.ts'

/** The path of the document, relative to the base path. */
export const OPENAPI_PATH = '/openapi.json'

/** The properties of the server that the document contains. */
export interface ApiInfo {
  /** The path at which the server is mounted; empty for the root. */
  readonly basePath: string
}

const DESCRIPTION = `Evaluation of feature flags for applications, and their management.

Management responses have the form \`{ statusCode, message, data }\`. For a list, \`data.data\`
contains the items and \`data.meta\` the page. PUT changes only the fields in the body; \`null\`
clears a field. Unknown fields are refused. The maximum size of a request body is 256 KiB unless stated otherwise.

Future versions can add fields to responses. Clients must ignore unknown fields.`

/**
 * Returns the OpenAPI 3.1 document of the server. It is generated from the endpoint table and its
 * codecs, so that it always matches the server.
 */
export function openApiDocument({ basePath }: ApiInfo): Json {
  const schemas = wireSchemas(tableCodecs, sdkCodecs)
  const paths = { ...sdkPaths(schemas), ...managementPaths(schemas), ...serverPaths }
  const shared = { parameters: sharedParameters, responses: sharedResponses }
  const all = { ...schemas.named, ...sdkSchemas, ...errorSchemas }
  return {
    openapi: '3.1.0',
    info: { title: 'Feature flags', version: '1', description: DESCRIPTION },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    security: [{ bearerAuth: [] }, { session: [] }],
    tags: tagsOf(paths),
    paths,
    components: {
      securitySchemes,
      headers: sharedHeaders,
      ...shared,
      schemas: reachable(all, { paths, shared }),
    },
  }
}

/** Returns a handler that responds with the document. The first request generates it. */
export function openApiReplier(info: ApiInfo): (exchange: Exchange) => Promise<Reply> {
  let cached: Promise<{ readonly text: string; readonly tag: string }> | undefined
  const generate = async () => {
    const text = JSON.stringify(openApiDocument(info))
    return { text, tag: `"${(await sha256(text)).slice(0, 32)}"` }
  }
  return async (exchange) => {
    cached ??= generate()
    const { text, tag } = await cached
    const headers = { ETag: tag, 'Cache-Control': 'no-cache' }
    if (isTagNamedIn(exchange.header('if-none-match'), tag)) {
      return { status: 304, headers, body: null }
    }
    const type = { 'Content-Type': 'application/json; charset=utf-8' }
    return { status: 200, headers: { ...type, ...headers }, body: text }
  }
}

function tagsOf(paths: Json): readonly Json[] {
  const operations = Object.values(paths).flatMap((path) => Object.values(path as Json))
  const names = operations.flatMap((operation) => (operation as { tags: string[] }).tags)
  return [...new Set(names)].map((name) => ({ name }))
}

/** Returns the schemas to which the document refers, directly or indirectly. */
function reachable(schemas: Json, from: unknown): Json {
  const found = new Set<string>()
  const visit = (text: string): void => {
    for (const [, name = ''] of text.matchAll(/#\/components\/schemas\/([\w.-]+)"/g)) {
      if (found.has(name)) continue
      found.add(name)
      visit(JSON.stringify(schemas[name]) ?? '')
    }
  }
  visit(JSON.stringify(from))
  return Object.fromEntries([...found].sort().map((name) => [name, schemas[name]]))
}
