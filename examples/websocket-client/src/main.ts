import assert from 'node:assert/strict'
import type { FlagValues } from '@ff/protocol/sdk'
import { connect } from './client.ts'
import { startServer } from './server.ts'

const server = await startServer()
const seen: { values: FlagValues; changed: readonly string[] }[] = []

await new Promise<void>((resolve) => {
  const close = connect({
    ...server,
    context: { kind: 'user', key: 'user-1', plan: 'pro' },
    onValues(values, changed) {
      seen.push({ values, changed })
      if (seen.length === 1) {
        console.log('At first:', values)
        server.addRule('enterprise').then(() => server.addRule('pro'))
      } else {
        console.log('Pushed:', changed, '→', values)
        close()
      }
    },
    onEnd: () => resolve(),
  })
})
await server.close()

assert.deepEqual(seen, [
  { values: { banner: false, theme: 'light' }, changed: ['banner', 'theme'] },
  // The rule for the other plan did not change the values of this context, so it sent no message.
  { values: { banner: false, theme: 'dark' }, changed: ['theme'] },
])
