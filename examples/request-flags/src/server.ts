import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createManagement, SYSTEM } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'
import { shopFlags } from './flags.ts'

/** A running flag server for the example. */
export interface ExampleServer {
  readonly url: string
  /** An SDK key of the kind `server`. */
  readonly sdkKey: string
  /** Adds a targeting rule that switches the new checkout on for contexts with a plan. */
  addRule(plan: string): Promise<void>
  close(): Promise<void>
}

/** Starts a flag server in this process. In production, it runs elsewhere. */
export async function startServer(): Promise<ExampleServer> {
  const flags = createFlagServer({ management: createManagement() })
  const system = flags.as(SYSTEM)
  await system.ensureProject({ key: 'shop', flags: shopFlags })
  const params = { projectId: 'shop', environmentId: 'live' }
  const { key: sdkKey } = await system.createSdkKey({
    params,
    body: { name: 'Checkout service', kind: 'server' },
  })
  const server = createServer(toNodeHandler(flags))
  attachWebSocket(server, flags)
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
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      await flags.close()
      server.closeAllConnections()
      await closed
    },
  }
}
