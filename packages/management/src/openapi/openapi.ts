import { sdkSchemas } from '@ff/protocol/management'
import { type Exchange, type Reply, sha256 } from '@ff/server/plane'
import { errorSchemas, securitySchemes, sharedHeaders, sharedResponses } from './answers.ts'
import { managementPaths, sharedParameters, tableCodecs } from './management-operations.ts'
import { type Json, wireSchemas } from './schemas.ts'
import { sdkCodecs, sdkPaths } from './sdk-operations.ts'
import { serverPaths } from './server-operations.ts'

/** Where the document is found. */
export const OPENAPI_PATH = '/openapi.json'

/** What the document says of the server as a whole. */
export interface ApiInfo {
  /** Under which path the server is mounted; empty for the root. */
  readonly basePath: string
}

const DESCRIPTION = `Feature flags: evaluation for applications, and everything that is managed.

Management answers are wrapped in \`{ statusCode, message, data }\`; lists are \`data.data\` with
\`data.meta\`. A PUT is partial: what is absent stays, \`null\` clears. Unknown fields are refused.
Request bodies may have 256 KiB unless an operation says otherwise.

The interface only grows: expect fields that you do not know in answers.`

/**
 * The OpenAPI 3.1 document of every operation: made from the endpoint table and the codecs of the
 * wire, so that it cannot say anything else than what the server does.
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

/** Answers the document of one server; it is made when it is first asked for. */
export function openApiReplier(info: ApiInfo): (exchange: Exchange) => Promise<Reply> {
  let made: Promise<{ readonly text: string; readonly tag: string }> | undefined
  const make = async () => {
    const text = JSON.stringify(openApiDocument(info))
    return { text, tag: `"${(await sha256(text)).slice(0, 32)}"` }
  }
  return async (exchange) => {
    made ??= make()
    const { text, tag } = await made
    const headers = { ETag: tag, 'Cache-Control': 'no-cache' }
    if (exchange.header('if-none-match')?.includes(tag)) return { status: 304, headers, body: null }
    const type = { 'Content-Type': 'application/json; charset=utf-8' }
    return { status: 200, headers: { ...type, ...headers }, body: text }
  }
}

function tagsOf(paths: Json): readonly Json[] {
  const operations = Object.values(paths).flatMap((path) => Object.values(path as Json))
  const names = operations.flatMap((operation) => (operation as { tags: string[] }).tags)
  return [...new Set(names)].map((name) => ({ name }))
}

/** Of all schemas, those that something refers to. */
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
