import type { ManagementPlane } from '@ff/server/plane'
import { type As, createManagement as create } from '../create-management.ts'
import type { ManagementOptions } from '../management-options.ts'
import { ScryptPasswordHasher } from './password-hasher.ts'
import { findSwaggerUi } from './swagger-ui.ts'
import { NodeWebhookSender } from './webhook-sender.ts'

export { SYSTEM } from '../access/actors.ts'

/** The options of `createManagement` with defaults for Node. */
export interface NodeManagementOptions
  extends Omit<ManagementOptions, 'webhookSender' | 'passwordHasher'> {
  /** Hashes passwords; scrypt by default. */
  readonly passwordHasher?: ManagementOptions['passwordHasher']
  /**
   * `allowLoopback` permits webhook URLs on this machine, also without TLS, for tests and
   * development.
   */
  readonly webhooks?: { readonly allowLoopback?: boolean }
}

/**
 * Creates a management plane that hashes passwords with scrypt, sends webhooks from Node, and serves
 * the API page at `/docs` if the package `swagger-ui-dist` is installed.
 *
 * @example
 * const flags = createFlagServer({ ...sqlite({ path }), management: createManagement() })
 */
export function createManagement({
  webhooks: { allowLoopback = false } = {},
  passwordHasher = new ScryptPasswordHasher(),
  readDocsAsset = findSwaggerUi(),
  ...options
}: NodeManagementOptions = {}): ManagementPlane<As> {
  const webhookSender = new NodeWebhookSender({ allowLoopback })
  return create({
    ...options,
    ...{ passwordHasher, webhookSender },
    ...(readDocsAsset && { readDocsAsset }),
  })
}
