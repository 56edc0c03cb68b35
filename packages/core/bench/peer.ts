import type { FlagSetDefinition } from '../src/index.ts'
import type { UserContext } from './workload.ts'

/** An engine of others. Each is one file in `peers/`, which is installed only to be measured. */
export interface Peer {
  readonly name: string
  /** The package whose version and licence are told. */
  readonly package: string
  /** Tells it about our flags in its own words, without network and without timers. */
  prepare(definition: FlagSetDefinition): Promise<Prepared> | Prepared
}

/** A peer that knows some flags. What it returns may be a promise. */
export interface Prepared {
  /** Its own form of a context; made before anything is measured. */
  contextOf(user: UserContext): unknown
  /** The value of the first flag. */
  value(context: unknown): unknown
  /** The values of all flags, in whatever form it has them soonest. */
  values(context: unknown): unknown
  /** The same by the keys of the flags; not measured. */
  read(values: unknown): Readonly<Record<string, unknown>>
  close?(): unknown
}

/** The folder is no part of the workspace, and not everybody has installed what it needs. */
export const PEERS = new URL('../peers/', import.meta.url)

export async function installedPeers(): Promise<readonly Peer[]> {
  return (await import(new URL('index.js', PEERS).href)).peers
}
