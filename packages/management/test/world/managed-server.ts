import { createFlagServer, type FlagServer, type FlagServerOptions } from '@ff/server'
import type { As } from '../../src/index.ts'
import { createManagement, type NodeManagementOptions } from '../../src/node/node.ts'

/** The options of a server and of its management plane. */
export type ManagedOptions = FlagServerOptions<As> & NodeManagementOptions

/** A server with a management plane. */
export type ManagedServer = FlagServer<As>

/** Creates a server with a management plane. */
export function createManagedServer(options: ManagedOptions = {}): ManagedServer {
  return createFlagServer({ ...options, management: createManagement(options) })
}
