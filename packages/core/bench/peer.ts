import type { FlagSetDefinition } from '../src/index.ts'

/** A context of the kind `user`, with attributes that all peers have. */
export type PeerContext = {
  readonly kind: 'user'
  readonly key: string
  readonly [attribute: string]: string | number
}

/**
 * Another engine for comparison. Each of these engines is a file in `peers/`, with separate
 * dependencies.
 */
export interface Peer {
  readonly name: string
  /** The npm package of the engine. Its version and licence are printed. */
  readonly package: string
  /** Translates the definition and starts the engine, without network and timers. */
  prepare(definition: FlagSetDefinition): Promise<Prepared> | Prepared
}

/** A peer that is ready to evaluate. `value` and `values` can return a promise. */
export interface Prepared {
  /** Converts a context to the form of the peer. Called before the measurement. */
  contextOf(user: PeerContext): unknown
  /** Returns the value of the first flag. */
  value(context: unknown): unknown
  /** Returns the values of all flags, in the form that is fastest for the peer. */
  values(context: unknown): unknown
  /** Converts the result of `values` to values by flag key. Not measured. */
  read(values: unknown): Readonly<Record<string, unknown>>
  close?(): unknown
}

/** The folder of the peers. It is not part of the workspace, and is installed separately. */
export const PEERS = new URL('../peers/', import.meta.url)

/** Loads all peers. Throws if their packages are not installed. */
export async function installedPeers(): Promise<readonly Peer[]> {
  return (await import(new URL('index.js', PEERS).href)).peers
}
