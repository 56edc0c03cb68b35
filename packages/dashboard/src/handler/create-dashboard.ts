import { isTagNamedIn } from '@ff/protocol/sdk'
import { acceptedEncoding } from './accepted-encoding.ts'
import { type AppFile, readAppFiles } from './app-files.ts'
import { type DashboardOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { REPLY_HEADERS } from './reply-headers.ts'
import { startPage } from './start-page.ts'

/**
 * A handler of requests. Returns `undefined` for a path that is not below the `basePath`. Neither
 * throws nor waits: all files are in memory.
 */
export type Dashboard = (request: Request) => Response | undefined

/** The files with hashes in their names, which never change. */
const ASSETS = 'assets/'
const IMMUTABLE = 'public, max-age=31536000, immutable'

/**
 * Reads the files of the application and creates the handler that serves them. Only these files can
 * be requested. Throws a `TypeError` if an option is invalid.
 *
 * @example
 * const dashboard = createDashboard({ basePath: '/flags-ui', apiPath: '/flags' })
 * const response = dashboard(new Request('https://app.example/flags-ui'))
 */
export function createDashboard(options: DashboardOptions = {}): Dashboard {
  const resolved = resolveOptions(options)
  const { basePath, folder } = resolved
  const reply = folder === undefined ? replyWithoutBuild : replyFrom(folder, resolved)
  return (request) => {
    const { pathname } = new URL(request.url)
    if (pathname !== basePath && !pathname.startsWith(`${basePath}/`)) return undefined
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return textReply(405, 'Method Not Allowed', { Allow: 'GET, HEAD' })
    }
    const response = reply(pathname.slice(basePath.length + 1), request)
    return request.method === 'HEAD' ? new Response(null, response) : response
  }
}

type Reply = (path: string, request: Request) => Response

/** Returns the reply to a path below the base, which has no leading slash. */
function replyFrom(folder: string, options: ResolvedOptions): Reply {
  const files = readAppFiles(folder)
  const page = startPage(files.get('index.html'), options)
  return (path, request) => {
    const file = path === 'index.html' ? page : files.get(path)
    if (file !== undefined) return fileReply(file, request, path.startsWith(ASSETS))
    // An old page asks for a file that an upgrade has removed. A page would be read as a script.
    if (path.startsWith(ASSETS)) return textReply(404, 'Not Found')
    return fileReply(page, request, false)
  }
}

function fileReply(file: AppFile, { headers }: Request, isImmutable: boolean): Response {
  const { type, variants } = file
  const encoding = acceptedEncoding(headers.get('accept-encoding'), (each) => variants.has(each))
  const variant = variants.get(encoding)
  if (variant === undefined) return textReply(404, 'Not Found')
  const { content, etag } = variant
  const kept = {
    ...REPLY_HEADERS,
    'Cache-Control': isImmutable ? IMMUTABLE : 'no-cache',
    ETag: etag,
    ...(variants.size > 1 && { Vary: 'Accept-Encoding' }),
  }
  if (isTagNamedIn(headers.get('if-none-match'), etag)) {
    return new Response(null, { status: 304, headers: kept })
  }
  const described = {
    ...kept,
    'Content-Type': type,
    'Content-Length': String(content.byteLength),
    ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
  }
  return new Response(content, { headers: described })
}

function replyWithoutBuild(): Response {
  return textReply(503, 'The dashboard is not built. Run `pnpm build` in the repository.')
}

function textReply(status: number, text: string, headers: Record<string, string> = {}): Response {
  const described = {
    ...REPLY_HEADERS,
    'Cache-Control': 'no-store',
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(text.length + 1),
    ...headers,
  }
  return new Response(`${text}\n`, { status, headers: described })
}
