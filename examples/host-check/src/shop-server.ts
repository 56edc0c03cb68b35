import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { FlagTypes } from '@ff/core/flag-types'
import { createManagement, SYSTEM } from '@ff/management/node'
import { createFlagServer, type FlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'

/** A running flag server for an example of a client. */
export interface ShopServer {
  readonly url: string
  /** An SDK key of the kind `server`. */
  readonly sdkKey: string
  /** An SDK key of the kind `client`. */
  readonly clientKey: string
  /** Adds a targeting rule that switches the new checkout on for contexts with a plan. */
  addRule(plan: string): Promise<void>
  /** Switches the new checkout on for a percentage of the users, and off for all others. */
  setPercentage(percentage: number): Promise<void>
  /** Ends all connections, and accepts none until `resume` is called. */
  pause(): Promise<void>
  resume(): Promise<void>
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
  const createKey = async (name: string, kind: 'server' | 'client') =>
    (await system.createSdkKey({ params, body: { name, kind } })).key
  const sdkKey = await createKey('Checkout service', 'server')
  const clientKey = await createKey('Pages', 'client')
  const http = await listen(flagServer)
  const flag = { ...params, flagId: 'new-checkout' }
  let rolloutId: string | undefined
  return {
    ...{ url: http.url, sdkKey, clientKey, pause: http.pause, resume: http.resume },
    async setPercentage(percentage) {
      if (rolloutId !== undefined) {
        await system.updateRollout({ params: { ...flag, rolloutId }, body: { percentage } })
        return
      }
      const body = { name: 'New checkout', strategy: 'percentage', variationId: 'true' } as const
      const rollout = await system.createRollout({ params: flag, body: { ...body, percentage } })
      rolloutId = rollout.id
      const rule = { name: 'All users', conditions: [], rolloutId }
      await system.createTargetingRule({ params: flag, body: rule })
    },
    async addRule(plan) {
      const conditions = [{ attribute: 'plan', operator: 'eq', value: plan }]
      const body = { name: `Plan ${plan}`, conditions, variationId: 'true' }
      await system.createTargetingRule({ params: flag, body })
    },
    async setDefault(isNew) {
      await system.updateFlagState({ params: flag, body: { defaultVariationId: String(isNew) } })
    },
    async close() {
      await flagServer.close()
      await http.pause()
    },
  }
}

/** Listens at a port, which stays the same after a pause. */
async function listen(flagServer: FlagServer) {
  const server = createServer(toNodeHandler(flagServer))
  attachWebSocket(server, flagServer)
  const connections = new Set<Socket>()
  server.on('connection', (connection) => {
    connections.add(connection)
    connection.on('close', () => connections.delete(connection))
  })
  const open = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await open(0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    resume: () => open(port),
    async pause(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const connection of connections) connection.destroy()
      await closed
    },
  }
}
