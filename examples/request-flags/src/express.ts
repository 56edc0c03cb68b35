import { requestFlags } from '@ff/client/express'
import express, { type Request } from 'express'
import { contextOf, type ShopClient, type ShopFlags } from './client.ts'

// #region express
declare global {
  // biome-ignore lint/style/noNamespace: Express declares its request in this namespace
  namespace Express {
    interface Request {
      readonly flags: ShopFlags
    }
  }
}

/** Creates the application. */
export function createExpressApp(client: ShopClient) {
  const app = express()
  app.use(requestFlags({ client, contextOf: (request: Request) => contextOf(request) }))
  app.get('/checkout', (request, response) => {
    response.send(request.flags.value('new-checkout') ? 'new checkout' : 'old checkout')
  })
  return app
}
// #endregion
