import assert from 'node:assert/strict'
import { createLocalClient } from '@ff/client/node'
import { startShopServer } from '@ff-examples/host-check'
import { shopFlags } from './flags.ts'

const server = await startShopServer(shopFlags)

// #region service
const client = createLocalClient({
  url: server.url,
  sdkKey: server.sdkKey,
  flags: shopFlags,
  onError: console.error,
})
await client.ready()

function checkout(plan: string): string {
  const user = { kind: 'user', key: `customer-${plan}`, plan }
  return client.value('new-checkout', user) ? 'new checkout' : 'old checkout'
}
// #endregion

assert.equal(checkout('pro'), 'old checkout')
const changed = new Promise<void>((resolve) => client.subscribe('new-checkout', () => resolve()))
await server.addRule('pro')
await changed
assert.equal(checkout('pro'), 'new checkout')
assert.equal(checkout('free'), 'old checkout')
console.log('The rule applies in the service:', client.status)

// A view has the interface of the client for values, and no connection of its own.
const view = client.for({ kind: 'user', key: 'customer-1', plan: 'pro' })
assert.equal(view.value('new-checkout'), true)
console.log('What a page can start with:', client.snapshot({ kind: 'user', key: 'customer-1' }))

// Closing the client reports the last evaluations. Without the server, evaluation goes on.
await client.close()
await server.close()
assert.equal(checkout('pro'), 'new checkout')
console.log('Without the server:', checkout('pro'))
