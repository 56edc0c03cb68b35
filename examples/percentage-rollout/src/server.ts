import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Actor } from '@ff/management'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { toNodeHandler } from '@ff/server/node'

/** A running server for the example. */
export interface ExampleServer {
  readonly url: string
  /** The access token for management. */
  readonly token: string
  /** The SDK key for evaluation. */
  readonly sdkKey: string
  readonly projectId: string
  readonly environmentId: string
  close(): Promise<void>
}

/** Starts a server in this process, with an empty project. */
export async function startServer(): Promise<ExampleServer> {
  const flags = createFlagServer({ management: createManagement() })
  await flags.start()
  const me: Actor = { id: 'me', email: '', name: 'Example', role: 'platform', orgId: null }
  const management = flags.as(me)
  const { id: orgId } = await management.createOrganization({ body: { name: 'Example' } })
  const { id: projectId, environments } = await management.createProject({
    params: { orgId },
    body: { key: 'shop' },
  })
  const params = { projectId, environmentId: environments[0]?.id ?? '' }
  const { token } = await management.createAccessToken({
    params: { orgId },
    body: { name: 'Example', role: 'editor' },
  })
  const { key: sdkKey } = await management.createSdkKey({
    params,
    body: { name: 'Example', kind: 'client', rateLimit: 600_000 },
  })
  const server = createServer(toNodeHandler(flags))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    ...params,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    sdkKey,
    async close() {
      server.close()
      await flags.close()
      server.closeAllConnections()
    },
  }
}
