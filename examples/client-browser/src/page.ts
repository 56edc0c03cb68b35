// #region page
import { createFlagClient, localStorageCache } from '@ff/client'
import { shopFlags } from './flags.ts'

const { sdkKey, context, bootstrap } = JSON.parse(
  document.querySelector('#flags')?.textContent ?? '',
)
const client = createFlagClient({
  url: `${location.origin}/flags`,
  sdkKey,
  flags: shopFlags,
  context,
  bootstrap,
  cache: localStorageCache(),
})

function show(): void {
  document.body.dataset['theme'] = client.value('theme')
  const button = document.querySelector('button')
  if (button) button.textContent = client.value('new-checkout') ? 'Buy now' : 'Add to cart'
}

show()
client.subscribe('theme', show)
client.subscribe('new-checkout', show)
// #endregion

// The check of the example reads the state of the client.
Object.assign(window, { flagClient: client })
