import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FlagTypes } from '@ff/core/flag-types'
import { createManagement, SYSTEM } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'

/** A running flag server for an example of a client. */
export interface ShopServer {
  readonly url: string
  /** An SDK key of the kind `server`. */
  readonly sdkKey: string
  /** Adds a targeting rule that switches the new checkout on for contexts with a plan. */
  addRule(plan: string): Promise<void>
  /** Serves the new checkout, or the old one, to all contexts without a rule. */
  setDefault(isNew: boolean): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a flag server with these flags in this process. In production, it runs elsewhere.
 */
export async function startShopServer(
  flags: Pick<FlagTypes<unknown>, 'types'>,
): Promise<ShopServer> {
  const flagServer = createFlagServer({ management: createManagement() })
  const system = flagServer.as(SYSTEM)
  await system.ensureProject({ key: 'shop', flags })
  const params = { projectId: 'shop', environmentId: 'live' }
  const { key: sdkKey } = await system.createSdkKey({
    params,
    body: { name: 'Checkout service', kind: 'server' },
  })
  const server = createServer(toNodeHandler(flagServer))
  attachWebSocket(server, flagServer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const flag = { ...params, flagId: 'new-checkout' }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sdkKey,
    async addRule(plan) {
      const conditions = [{ attribute: 'plan', operator: 'eq', value: plan }]
      const body = { name: `Plan ${plan}`, conditions, variationId: 'true' }
      await system.createTargetingRule({ params: flag, body })
    },
    async setDefault(isNew) {
      await system.updateFlagState({ params: flag, body: { defaultVariationId: String(isNew) } })
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      await flagServer.close()
      server.closeAllConnections()
      await closed
    },
  }
}
