/**
 * An error in the command line, an environment variable or the data folder, with a message for the
 * operator.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}
