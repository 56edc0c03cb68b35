import { FlagError } from '@ff/core'

/** An environment and a kind of SDK key. Together they determine the flags of a client. */
export interface FlagSetScope {
  readonly environmentId: string
  /**
   * A `client` key grants access to the values of the flags that are visible to clients. A `server`
   * key grants access to the values of all flags and to the definition of the flag set.
   */
  readonly kind: SdkKeyKind
}

/** The kind of an SDK key. */
export type SdkKeyKind = 'client' | 'server'

/** All kinds of SDK keys. */
export const SDK_KEY_KINDS: readonly SdkKeyKind[] = ['client', 'server']

/** The access to one environment that an SDK key grants. */
export interface EnvironmentScope extends FlagSetScope {
  readonly keyId: string
  readonly organizationId: string
  /** The maximum number of requests with this key per minute. */
  readonly rateLimit: number
}

/** Throws `FORBIDDEN` unless the key of a scope is of kind `server`. */
export function assertServerKey({ kind }: FlagSetScope): void {
  if (kind !== 'server') {
    throw new FlagError('FORBIDDEN', 'Only an SDK key of kind "server" may fetch the flag set.')
  }
}
