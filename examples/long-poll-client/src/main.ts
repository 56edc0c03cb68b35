import assert from 'node:assert/strict'
import type { FlagValues } from '@ff/protocol/sdk'
import { watch } from './client.ts'
import { startServer } from './server.ts'

const server = await startServer()
const stop = new AbortController()
const context = { kind: 'user', key: 'user-1', plan: 'pro' }
const seen: FlagValues[] = []

for await (const values of watch({ ...server, context, signal: stop.signal })) {
  seen.push(values)
  console.log(seen.length === 1 ? 'At first:' : 'Changed:', values)
  if (seen.length === 2) break
  // At that time, the next poll is pending. The first rule does not match, so the poll stays open.
  setTimeout(() => server.addRule('enterprise').then(() => server.addRule('pro')), 100)
}
stop.abort()
await server.close()

assert.deepEqual(seen, [
  { banner: false, theme: 'light' },
  { banner: false, theme: 'dark' },
])
