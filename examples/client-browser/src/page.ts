// #region page
import { createFlagClient, localStorageCache } from '@ff/client'
import { shopFlags } from './flags.ts'

const client = createFlagClient({
  url: `${location.origin}/flags`,
  sdkKey: document.body.dataset['key'] ?? '',
  flags: shopFlags,
  context: { kind: 'user', key: 'user-1', plan: 'pro' },
  bootstrap: JSON.parse(document.querySelector('#flags')?.textContent ?? ''),
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
