import { FlagError } from '@ff/core'
import type { Reply } from '@ff/server/plane'
import { DOCS_ASSETS, type DocsAsset, type ReadDocsAsset } from '../ports/docs-assets.ts'

/** The path of the page, relative to the base path. The files that it loads are below this path. */
/** The path of the API page. Its files are below it. */
export const DOCS_PATH = '/docs'

// All links are relative to the page, so that they work below every base path.
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
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
} as const

const SCRIPT_TYPE = 'text/javascript; charset=utf-8'

const ASSET_TYPES: Readonly<Record<DocsAsset, string>> = {
  'swagger-ui-bundle.js': SCRIPT_TYPE,
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
}

/** Creates the reply at one path of the page. */
type Answer = () => Reply | Promise<Reply>

/**
 * Returns a function that finds the reply at a path of the API page; `undefined` for all other
 * paths. Without `readAsset`, the replies are errors that describe how to enable the page.
 */
export function docsPage(
  readAsset: ReadDocsAsset | undefined,
): (path: string) => Answer | undefined {
  const answers = readAsset === undefined ? UNAVAILABLE : pageAnswers(readAsset)
  return (path) => answers.get(path)
}

function pageAnswers(readAsset: ReadDocsAsset): ReadonlyMap<string, Answer> {
  const assets = DOCS_ASSETS.map((name): [string, Answer] => {
    return [`${DOCS_PATH}/${name}`, async () => fileReply(ASSET_TYPES[name], await readAsset(name))]
  })
  return new Map<string, Answer>([
    [DOCS_PATH, () => fileReply('text/html; charset=utf-8', HTML)],
    // The links of the page do not work with a slash at the end of its path.
    [`${DOCS_PATH}/`, () => ({ status: 308, headers: { Location: '../docs' }, body: null })],
    [`${DOCS_PATH}/page.js`, () => fileReply(SCRIPT_TYPE, SCRIPT)],
    ...assets,
  ])
}

const UNAVAILABLE: ReadonlyMap<string, Answer> = new Map([
  [
    DOCS_PATH,
    () => {
      const install = 'install the package swagger-ui-dist and start the server again.'
      throw new FlagError('NOT_FOUND', `The API page is not available; ${install}`)
    },
  ],
])

function fileReply(type: string, body: string | Uint8Array): Reply {
  return { status: 200, headers: { ...HEADERS, 'Content-Type': type }, body }
}
