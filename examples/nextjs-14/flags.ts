import { createFlagClient, createLocalClient } from '@ff/client/node'
import { bool, defineFlags } from '@ff/core/flag-types'

// #region clients
const shopFlags = defineFlags({ 'new-checkout': bool(false) })

/** The customer of the example. An application takes the context from the session of a request. */
const customer = { kind: 'user', key: 'customer-1', plan: 'pro' }

function createClients() {
  const options = {
    url: process.env.FF_URL ?? '',
    sdkKey: process.env.FF_SDK_KEY ?? '',
    flags: shopFlags,
    // check.js also tries long-polls, which use the `fetch` of Next.js for every change.
    transport: process.env.FF_TRANSPORT === 'long-poll' ? 'long-poll' : 'auto',
  } as const
  return {
    /** Evaluates flags in this process, for any context. */
    local: createLocalClient(options),
    /** Receives the values of one context from the server. */
    client: createFlagClient({ ...options, context: customer }),
  }
}

// Next.js can load a module several times in one process. All copies use the same clients.
const held = globalThis as { flagClients?: ReturnType<typeof createClients> }

/** Returns the clients of this process, when they have values. */
export async function flagClients() {
  held.flagClients ??= createClients()
  const { local, client } = held.flagClients
  await Promise.all([local.ready(), client.ready()])
  return held.flagClients
}
// #endregion

/** Returns the state of a flag, as both clients know it. */
export async function checkoutState() {
  const { local, client } = await flagClients()
  return {
    local: [local.value('new-checkout', customer), local.status.version],
    client: [client.value('new-checkout'), client.status.version],
  }
}
