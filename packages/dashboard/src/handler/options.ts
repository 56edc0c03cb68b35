import { statSync } from 'node:fs'
import { join } from 'node:path'

/** The options of `createDashboard`. */
export interface DashboardOptions {
  /**
   * The path below which browsers reach the dashboard, such as `/dashboard`; the root by default. A
   * proxy in front must not remove it from the path.
   */
  readonly basePath?: string
  /**
   * The path below which browsers reach the management API on the same host, such as `/flags`; the
   * root by default. It is the `basePath` of the flag server.
   */
  readonly apiPath?: string
  /**
   * The folder of the built application, for hosts that bundle this package into one file; by
   * default the folder in this package.
   */
  readonly folder?: string
}

/** The validated options. */
export interface ResolvedOptions {
  /** Empty, or a path with a leading slash and without a trailing slash. */
  readonly basePath: string
  /** In the same form as `basePath`. */
  readonly apiPath: string
  /** `undefined` if this is a clone of the repository in which nothing is built. */
  readonly folder: string | undefined
}

/** The names of the options. */
const NAMES: readonly string[] = ['basePath', 'apiPath', 'folder']

/** Matches a path of segments that need no escape in an address. */
const PATH = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)*$/

/** Returns the options with defaults. Throws a `TypeError` that names the first invalid option. */
export function resolveOptions(options: DashboardOptions): ResolvedOptions {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`The options of the dashboard must be an object (got ${shown(options)}).`)
  }
  for (const name of Object.keys(options)) {
    if (!NAMES.includes(name)) {
      throw new TypeError(`\`${name}\` is not an option; the options are ${NAMES.join(', ')}.`)
    }
  }
  const { basePath = '', apiPath = '', folder } = options
  return {
    basePath: pathOf('basePath', basePath),
    apiPath: pathOf('apiPath', apiPath),
    folder: folder === undefined ? findOwnFolder() : folderOf(folder),
  }
}

function pathOf(name: string, value: unknown): string {
  const text = typeof value === 'string' ? value.replace(/\/$/, '') : undefined
  if (
    text !== undefined &&
    PATH.test(text) &&
    new URL(text, 'http://host').pathname === (text || '/')
  )
    return text
  throw new TypeError(
    `\`${name}\` must be a path with a leading slash, such as "/flags", or "" for the root (got ${shown(value)}).`,
  )
}

function folderOf(folder: unknown): string {
  if (typeof folder === 'string' && isBuilt(folder)) return folder
  throw new TypeError(
    `\`folder\` must be a folder with the file index.html of the built application (got ${shown(folder)}).`,
  )
}

/** Returns the folder of the application beside this module; `undefined` if it is not built. */
function findOwnFolder(): string | undefined {
  // The built module is in `dist`, and the source in `src/handler`.
  const folders = ['app', '../../dist/app'].map((path) => join(import.meta.dirname, path))
  return folders.find(isBuilt)
}

function isBuilt(folder: string): boolean {
  return statSync(join(folder, 'index.html'), { throwIfNoEntry: false })?.isFile() === true
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
