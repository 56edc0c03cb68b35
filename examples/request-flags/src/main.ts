import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startShopServer } from '@ff-examples/host-check'
import { createShopClient } from './client.ts'
import { createExpressApp } from './express.ts'
import { createFastifyApp } from './fastify.ts'
import { shopFlags } from './flags.ts'
import { createNestApp } from './nestjs.ts'

const server = await startShopServer(shopFlags)
await server.addRule('pro')
const client = createShopClient(server)
await client.ready()

const express = createExpressApp(client).listen(0, '127.0.0.1')
await new Promise((resolve) => express.once('listening', resolve))
await check('Express', express)
express.close()

const fastify = await createFastifyApp(client)
await fastify.listen({ host: '127.0.0.1', port: 0 })
await check('Fastify', fastify.server)
await fastify.close()
await client.close()

const nest = await createNestApp(server)
await nest.listen(0, '127.0.0.1')
await check('NestJS', nest.getHttpServer())
await nest.close()

await server.close()

/** Checks that each request has the flags of its own user. */
async function check(name: string, listening: Server): Promise<void> {
  const { port } = listening.address() as AddressInfo
  const checkout = async (plan: string) => {
    const headers = { 'x-user': `customer-${plan}`, 'x-plan': plan }
    return (await fetch(`http://127.0.0.1:${port}/checkout`, { headers })).text()
  }
  assert.equal(await checkout('free'), 'old checkout')
  assert.equal(await checkout('pro'), 'new checkout')
  console.log(`${name}: a customer with the plan "pro" sees the new checkout`)
  listening.closeAllConnections()
}
