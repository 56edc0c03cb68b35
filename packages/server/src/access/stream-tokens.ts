import { FlagError } from '@ff/core'
import type { Clock } from '../runtime/clock.ts'
import type { EnvironmentScope } from './scope.ts'
import type { HashedKey, SdkKeyVerifier } from './sdk-keys.ts'
import { equalSecrets, hmac } from './secrets.ts'

/**
 * The time for which a key has the same token. A client reconnects its event stream when the
 * address changes, so the token must not change with each response.
 */
const PERIOD_MS = 60 * 60_000

const PATTERN = /^([\w-]{1,64})\.(\d{1,9})\.([0-9a-f]{64})$/

interface StreamTokensOptions {
  readonly keys: SdkKeyVerifier
  readonly clock: Clock
}

/**
 * Creates and verifies the tokens in the addresses of event streams, because the `EventSource` of a
 * browser sends no headers. A token opens the event stream of one SDK key and nothing else. It is
 * an HMAC of the hour, keyed by the hash under which the SDK key is stored. All instances therefore
 * create the same tokens, and revoking the key revokes them. A token is valid in the hour of its
 * creation and in the next one.
 */
export class StreamTokens {
  readonly #options: StreamTokensOptions

  constructor(options: StreamTokensOptions) {
    this.#options = options
  }

  /** Returns the current token of a key. Throws `UNAUTHENTICATED` if the key was revoked. */
  async tokenFor({ keyId }: EnvironmentScope): Promise<string> {
    const { keys, clock } = this.#options
    return tokenOf(await keys.verifyById(keyId), Math.floor(clock.now() / PERIOD_MS))
  }

  /** Returns the scope of a token. Throws `UNAUTHENTICATED` if the token is not valid. */
  async verify(token: string): Promise<EnvironmentScope> {
    const { keys, clock } = this.#options
    const [, keyId, period] = PATTERN.exec(token) ?? []
    if (keyId === undefined) throw tokenRefused()
    const age = Math.floor(clock.now() / PERIOD_MS) - Number(period)
    // The clock of the instance that has created the token may be ahead.
    if (age < -1 || age > 1) throw tokenRefused()
    const key = await keys.verifyById(keyId)
    if (!equalSecrets(token, await tokenOf(key, Number(period)))) throw tokenRefused()
    return key
  }
}

async function tokenOf({ keyId, hash }: HashedKey, period: number): Promise<string> {
  return `${keyId}.${period}.${await hmac(hash, `ofrep ${keyId} ${period}`)}`
}

function tokenRefused(): FlagError {
  const message = 'The address of the event stream has expired. Evaluate the flags again.'
  return new FlagError('UNAUTHENTICATED', message)
}
