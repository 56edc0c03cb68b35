// Waits until both clients follow the server, and prints a value and the transport of each.
import { createFlagClient, createLocalClient } from '@ff/client/node'
import { defineFlags, text } from '@ff/core/flag-types'

const flags = defineFlags({ banner: text('none') })
const { FF_URL: url = '', FF_SDK_KEY: sdkKey = '' } = process.env
const user = { kind: 'user', key: 'user-1' }

async function main(): Promise<void> {
  const client = createFlagClient({ url, sdkKey, flags, context: user })
  const local = createLocalClient({ url, sdkKey, flags })
  for (const each of [client, local]) {
    await new Promise<void>((resolve) => {
      const check = () => {
        if (/socket|long-poll/.test(each.status.connection)) resolve()
      }
      each.watch(check)
      check()
    })
  }
  console.log(client.value('banner'), client.status.connection)
  console.log(local.value('banner', user), local.status.connection)
  client.close()
  await local.close()
}

void main()
