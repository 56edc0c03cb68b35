import { readFile } from 'node:fs/promises'
import type { RequestListener, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The path of the page. The files that it loads have paths below this one. */
const PAGE = '/docs'

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Feature flags: API documentation</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
  </head>
  <body>
    <p>Generated from <a href="openapi.json">openapi.json</a>. Choose “Authorize” to send requests.</p>
    <div id="page"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/page.js"></script>
  </body>
</html>
`

const SCRIPT = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#page',
  validatorUrl: null,
  tryItOutEnabled: true,
  deepLinking: true,
  docExpansion: 'none',
})
`

/** A policy that permits only files and requests of this server, and no framing by other sites. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
} as const

const HTML_TYPE = 'text/html; charset=utf-8'
const SCRIPT_TYPE = 'text/javascript; charset=utf-8'

interface File {
  readonly type: string
  readonly read: () => string | Promise<Uint8Array>
}

const require = createRequire(import.meta.url)
const assetsFolder = dirname(require.resolve('swagger-ui-dist/package.json'))
const asset = (type: string, name: string): File => {
  return { type, read: () => readFile(join(assetsFolder, name)) }
}

/** The served files by path. No other files can be read. */
const FILES: ReadonlyMap<string, File> = new Map([
  [PAGE, { type: HTML_TYPE, read: () => HTML }],
  [`${PAGE}/page.js`, { type: SCRIPT_TYPE, read: () => SCRIPT }],
  [`${PAGE}/swagger-ui-bundle.js`, asset(SCRIPT_TYPE, 'swagger-ui-bundle.js')],
  [`${PAGE}/swagger-ui.css`, asset('text/css; charset=utf-8', 'swagger-ui.css')],
  [`${PAGE}/favicon-32x32.png`, asset('image/png', 'favicon-32x32.png')],
])

/** Returns a listener that serves the API page at `/docs` and passes other requests to `next`. */
export function withDocsPage(next: RequestListener): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const file = FILES.get(path)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (file === undefined || !isRead) return next(request, response)
    send(file, response).catch(() => {
      response.statusCode = 500
      response.end()
    })
  }
}

async function send(file: File, response: ServerResponse): Promise<void> {
  const content = await file.read()
  const length = Buffer.byteLength(content)
  response.writeHead(200, { ...HEADERS, 'Content-Type': file.type, 'Content-Length': length })
  response.end(content)
}
