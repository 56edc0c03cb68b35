import type { Dashboard } from './create-dashboard.ts'

/** A request of `node:http`, Express or a compatible framework. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** The whole URL, if the framework has removed the path of a mount from `url`. */
  readonly originalUrl?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** A response of `node:http`, Express or a compatible framework. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body?: Uint8Array): unknown
}

/** A request handler for `http.createServer`, Express and compatible frameworks. */
export type NodeHandler = (
  request: NodeRequest,
  response: NodeResponse,
  next?: (error?: unknown) => void,
) => void

/** The headers that a reply depends on. */
const USED_HEADERS = ['accept-encoding', 'if-none-match']

/**
 * Creates a handler of Node that serves the dashboard. For other paths it calls `next`, or replies
 * with 404 if the host passes no `next`.
 *
 * @example
 * app.use('/flags-ui', toNodeHandler(createDashboard({ basePath: '/flags-ui', apiPath: '/flags' })))
 */
export function toNodeHandler(dashboard: Dashboard): NodeHandler {
  return (request, response, next) => {
    const reply = dashboard(requestOf(request))
    if (reply !== undefined) void send(reply, response)
    else if (next !== undefined) next()
    else {
      response.writeHead(404, { 'Content-Length': '0' })
      response.end()
    }
  }
}

function requestOf({ method, url = '/', originalUrl = url, headers }: NodeRequest): Request {
  const used = new Headers()
  for (const name of USED_HEADERS) {
    const value = headers[name]
    if (value !== undefined) used.set(name, String(value))
  }
  // `Request` refuses some methods. The dashboard treats all of them as it treats POST.
  const isRead = method === 'GET' || method === 'HEAD'
  // Also a URL with a host, which is permitted by HTTP, is only a path here.
  const path = originalUrl.startsWith('/') ? originalUrl : `/${originalUrl}`
  return new Request(`http://localhost${path}`, { method: isRead ? method : 'POST', headers: used })
}

async function send(reply: Response, response: NodeResponse): Promise<void> {
  response.writeHead(reply.status, Object.fromEntries(reply.headers))
  if (reply.body === null) response.end()
  else response.end(new Uint8Array(await reply.arrayBuffer()))
}
