// A page that shows a flag.
import { createFlagClient, localStorageCache } from '@ff/client'
import { defineFlags, text } from '@ff/core/flag-types'

const flags = defineFlags({ banner: text('none') })
const client = createFlagClient({
  url: 'http://127.0.0.1:4400',
  sdkKey: 'ff_page',
  flags,
  cache: localStorageCache(),
})
console.log(client.value('banner'))
