import { ConfigError } from './config/config-error.ts'

/** What the program does. `path` is that of a backup. */
export type Command =
  | { readonly name: 'serve' | 'verify' | 'copy' }
  | { readonly name: 'activate'; readonly discards: boolean }
  | { readonly name: 'backup' | 'restore'; readonly path: string }

const USAGE =
  'Use "verify" to check the data, "backup <file>", "restore <file>", "copy" to copy a data file to PostgreSQL, "activate" for a copy that takes the place of the original, or no command to start the server.'

/**
 * Parses the command line; `serve` if it is empty. Throws `ConfigError` for an unknown command, a
 * missing argument or too many arguments.
 */
export function readCommand(words: readonly string[]): Command {
  const [name = 'serve', path, ...others] = words
  if (words.length === 0) return { name: 'serve' }
  if (name === 'verify' || name === 'copy') {
    if (path === undefined) return { name }
    throw new ConfigError(`The command "${name}" has no arguments (got "${path}").`)
  }
  if (name === 'activate') {
    const discards = path === 'discard'
    if (others.length === 0 && (discards || path === undefined)) return { name, discards }
    throw new ConfigError(
      `The command "activate" has no argument but "discard" (got "${words.slice(1).join(' ')}").`,
    )
  }
  if (name === 'backup' || name === 'restore') {
    if (path === undefined || path === '') {
      throw new ConfigError(`The command "${name}" needs the path of the backup: ${name} <file>.`)
    }
    if (others.length === 0) return { name, path }
    throw new ConfigError(
      `The command "${name}" has one argument (got also "${others.join(' ')}").`,
    )
  }
  throw new ConfigError(`Unknown command "${words.join(' ')}". ${USAGE}`)
}
