// @ts-check
// Builds the application into `dist/app`, with compressed copies and the licences of its libraries.
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const app = join(dist, 'app')
const COMPRESSIBLE = ['.css', '.html', '.js', '.json', '.svg', '.txt']

// Vite would otherwise keep the value of a test run, and build the development version of React.
process.env['NODE_ENV'] = 'production'

await build({
  root,
  mode: 'production',
  logLevel: 'warn',
  build: {
    outDir: app,
    emptyOutDir: true,
    sourcemap: false,
    manifest: 'manifest.json',
    // pnpm adds the licence of the repository only if no file has `license` in its name.
    license: { fileName: 'notices.txt' },
  },
})

// Vite lists only the packages of which it bundles scripts.
const font = join(root, 'node_modules/@fontsource-variable/inter')
const { name, version, license } = JSON.parse(readFileSync(join(font, 'package.json'), 'utf8'))
const terms = readFileSync(join(font, 'LICENSE'), 'utf8')
appendFileSync(join(app, 'notices.txt'), `\n## ${name} - ${version} (${license})\n\n${terms}`)

mkdirSync(dist, { recursive: true })
// The sizes are computed from the manifest. It is not part of the application.
renameSync(join(app, 'manifest.json'), join(dist, 'manifest.json'))

const files = readdirSync(app, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && COMPRESSIBLE.includes(extname(entry.name)))
  .map((entry) => join(entry.parentPath, entry.name))
  // The handler compresses the page itself, after it has filled in the paths.
  .filter((file) => file !== join(app, 'index.html'))
await Promise.all(files.map(compress))

/** @param {string} file */
async function compress(file) {
  const content = readFileSync(file)
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  const [small, smaller] = await Promise.all([
    promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
    promisify(brotliCompress)(content, { params }),
  ])
  writeFileSync(`${file}.gz`, small)
  writeFileSync(`${file}.br`, smaller)
}
