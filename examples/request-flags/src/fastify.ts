import { requestFlags } from '@ff/client/fastify'
import { type FastifyRequest, fastify } from 'fastify'
import { contextOf, type ShopClient, type ShopFlags } from './client.ts'

// #region fastify
declare module 'fastify' {
  interface FastifyRequest {
    readonly flags: ShopFlags
  }
}

/** Creates the application. */
export async function createFastifyApp(client: ShopClient) {
  const app = fastify()
  await app.register(
    requestFlags({ client, contextOf: (request: FastifyRequest) => contextOf(request) }),
  )
  app.get('/checkout', async (request) => {
    return request.flags.value('new-checkout') ? 'new checkout' : 'old checkout'
  })
  return app
}
// #endregion
