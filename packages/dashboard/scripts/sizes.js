// @ts-check
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

const dist = join(import.meta.dirname, '../dist')

/** The page that loads all scripts. */
const ENTRY = 'index.html'

/** The page that shows the list of flags, as a key of the manifest if it is loaded separately. */
const FIRST_PAGE = 'src/pages/flags/flags-page.tsx'

/** The pages of the route table; other entries are parts of pages that are loaded later. */
const PAGE = /-page\.tsx$/

/** The widgets that several pages use. */
const WIDGETS = /^assets\/widgets-[^/]+\.js$/

/** The limits of the application, in kB after gzip, without the fonts, which are compressed. */
const LIMITS = {
  beforeList: 240,
  widgets: 60,
  furtherPage: 70,
  allScripts: 600,
  allStyles: 20,
  font: 50,
}

/**
 * A file that Vite has built.
 *
 * @typedef {object} Chunk
 * @property {string} file
 * @property {string} [src]
 * @property {boolean} [isEntry]
 * @property {boolean} [isDynamicEntry]
 * @property {readonly string[]} [imports] The keys of the chunks that it imports statically.
 */

/**
 * Returns the entries of the built application for `size-limit`. Throws if the application is not
 * built.
 */
export function dashboardSizes() {
  const manifest = join(dist, 'manifest.json')
  if (!existsSync(manifest)) throw new Error(`${manifest} is missing. Run \`pnpm build\` first.`)
  /** @type {Readonly<Record<string, Chunk>>} */
  const chunks = JSON.parse(readFileSync(manifest, 'utf8'))
  const pages = Object.keys(chunks).filter((key) => chunks[key]?.isDynamicEntry)
  if (chunks[ENTRY] === undefined) throw new Error('The built application has no entry.')
  const initial = filesOf(chunks, pages.includes(FIRST_PAGE) ? [ENTRY, FIRST_PAGE] : [ENTRY])
  const widgets = assets('.js').filter((file) => WIDGETS.test(file))
  const known = new Set([...initial, ...widgets])
  const further = pages.filter((page) => PAGE.test(page) && page !== FIRST_PAGE)
  const ofPages = filesOf(chunks, further)
  const parts = pages.filter((page) => !PAGE.test(page) && !known.has(chunks[page]?.file ?? ''))
  return [
    sizeOf('all scripts before the list', [...initial], LIMITS.beforeList),
    sizeOf('the widgets, which the list loads when it is idle', widgets, LIMITS.widgets),
    ...further.map((page) => {
      const own = [...filesOf(chunks, [page])].filter((file) => !known.has(file))
      return sizeOf(`the scripts of ${page}`, own, LIMITS.furtherPage)
    }),
    ...parts.map((part) => {
      const own = [...filesOf(chunks, [part])].filter(
        (file) => !known.has(file) && !ofPages.has(file),
      )
      return sizeOf(`the scripts of ${part}, a part of a page`, own, LIMITS.furtherPage)
    }),
    sizeOf('all scripts', assets('.js'), LIMITS.allScripts),
    sizeOf('all styles', assets('.css'), LIMITS.allStyles),
    ...assets('.woff2').map((file) => sizeOf(`the font ${file}`, [file], LIMITS.font, false)),
  ]
}

/**
 * Returns the files of chunks and of all their static imports.
 *
 * @param {Readonly<Record<string, Chunk>>} chunks
 * @param {readonly string[]} keys
 */
function filesOf(chunks, keys) {
  const seen = new Set(keys)
  // A set can grow while it is read, and the new members are read too.
  for (const key of seen) for (const other of chunks[key]?.imports ?? []) seen.add(other)
  const files = [...seen].map((key) => chunks[key]?.file ?? '')
  return new Set(files.filter((file) => file.endsWith('.js')))
}

/** @param {string} extension */
function assets(extension) {
  return readdirSync(join(dist, 'app', 'assets'))
    .filter((file) => extname(file) === extension)
    .map((file) => `assets/${file}`)
}

/**
 * @param {string} name
 * @param {readonly string[]} files
 * @param {number} limit
 */
function sizeOf(name, files, limit, gzip = true) {
  return {
    name: `@ff/dashboard, ${name}`,
    path: files.map((file) => join(dist, 'app', file)),
    limit: `${limit} kB`,
    gzip,
    brotli: false,
    // The files are built, and another bundler would follow their dynamic imports.
    disablePlugins: ['@size-limit/esbuild'],
  }
}
