import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Actor } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { attachWebSocket, toNodeHandler } from '@ff/server/node'

/** A running server for the example. */
export interface ExampleServer {
  readonly url: string
  readonly sdkKey: string
  /** Adds a targeting rule that serves the new theme to contexts with this plan. */
  addRule(plan: string): Promise<void>
  close(): Promise<void>
}

/** Starts a server in this process, with one project and two flags. */
export async function startServer(): Promise<ExampleServer> {
  const flags = createFlagServer({ management: createManagement() })
  await flags.start()
  const me: Actor = { id: 'me', email: '', name: 'Example', role: 'platform', orgId: null }
  const management = flags.as(me)
  const { id: orgId } = await management.createOrganization({ body: { name: 'Example' } })
  const { id: projectId, environments } = await management.createProject({
    params: { orgId },
    body: { key: 'site' },
  })
  const params = { projectId, environmentId: environments[0]?.id ?? '' }
  const { key: sdkKey } = await management.createSdkKey({
    params,
    body: { name: 'Example', kind: 'client' },
  })
  const flag = await management.createFlag({
    params,
    body: {
      key: 'theme',
      type: 'string',
      variations: [
        { key: 'light', value: 'light', isDefault: true },
        { key: 'dark', value: 'dark' },
      ],
    },
  })
  await management.createFlag({ params, body: { key: 'banner', type: 'boolean' } })

  const server = createServer(toNodeHandler(flags))
  attachWebSocket(server, flags)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const dark = flag.variations.find(({ key }) => key === 'dark')?.id ?? ''
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sdkKey,
    async addRule(plan) {
      await management.createTargetingRule({
        params: { ...params, flagId: flag.id },
        body: {
          name: `Plan ${plan}`,
          conditions: [{ attribute: 'plan', operator: 'eq', value: plan }],
          variationId: dark,
        },
      })
    },
    async close() {
      server.close()
      await flags.close()
      server.closeAllConnections()
    },
  }
}
