import { resolve } from 'node:path'

export interface Config {
  readonly host: string
  readonly port: number
  /** Where the database lives; created when it is not there. */
  readonly dataDir: string
  /** The administrator's token, when the operator sets it; else one is made at the first start. */
  readonly adminToken: string | undefined
}

/** An environment variable that cannot be used, in words for the operator. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const MIN_TOKEN_LENGTH = 16

/** Reads the settings from environment variables; throws `ConfigError` naming the one that is wrong. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  return {
    host: textOf(env['HOST']) ?? '127.0.0.1',
    port: portOf(env['PORT']),
    dataDir: resolve(textOf(env['FF_DATA_DIR']) ?? './data'),
    adminToken: adminTokenOf(env['FF_ADMIN_TOKEN']),
  }
}

function textOf(value: string | undefined): string | undefined {
  const text = value?.trim()
  return text === '' ? undefined : text
}

function portOf(value: string | undefined): number {
  const text = textOf(value) ?? '4400'
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new ConfigError(
      `PORT must be a number from 0 to 65535 (0 picks a free one), not "${text}".`,
    )
  }
  return port
}

function adminTokenOf(value: string | undefined): string | undefined {
  const token = textOf(value)
  if (token === undefined) return undefined
  if (token.length < MIN_TOKEN_LENGTH || /\s/.test(token)) {
    throw new ConfigError(
      `FF_ADMIN_TOKEN must have at least ${MIN_TOKEN_LENGTH} characters and no spaces; "openssl rand -hex 32" makes a good one.`,
    )
  }
  return token
}
