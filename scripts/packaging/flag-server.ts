import { onTestFinished } from 'vitest'
import { createFlagServer } from '../../packages/server/src/index.ts'
import { attachWebSocket, toNodeHandler } from '../../packages/server/src/node/node.ts'
import { allInMemory } from '../../packages/server/test/capabilities.ts'
import { listen } from '../../packages/server/test/node/listening.ts'
import { addSdkKey, flagChange, publish, seed, textFlag } from '../../packages/server/test/seed.ts'

/** Starts a flag server with an SDK key of the kind `server`. It is closed after the test. */
export async function startFlagServer() {
  const memory = allInMemory()
  const { live } = await seed(memory.storage)
  const { sdkKey } = await addSdkKey(memory.storage, live, { kind: 'server' })
  const server = createFlagServer(memory)
  const { url, server: listener, close } = await listen(toNodeHandler(server))
  attachWebSocket(listener, server)
  onTestFinished(async () => {
    await server.close()
    await close()
  })
  return {
    url,
    sdkKey,
    /** Publishes the value of the flag `banner`. */
    setBanner: (value: string) =>
      publish(memory, live.environmentId, flagChange(textFlag('banner', value))),
  }
}
