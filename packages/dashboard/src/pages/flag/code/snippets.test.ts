import type { Environment, FlagView } from '@ff/protocol/management'
import { expect, it } from 'vitest'
import { snippetsOf } from './snippets.ts'

const place = {
  projectKey: 'shop',
  environment: { key: 'live' } as Environment,
  url: 'http://127.0.0.1:4400',
}
const flagWith = (key: string, type: FlagView['type'], value: string) =>
  ({ key, type, variations: [{ value, isDefault: true }] }) as unknown as FlagView

it('Each snippet names the flag, the environment and the address of this server', () => {
  const [client, inProcess, curl] = snippetsOf(flagWith('new-checkout', 'boolean', 'true'), place)
  expect(client?.code).toContain("defineFlags({ 'new-checkout': bool(true) })")
  expect(client?.code).toContain("url: 'http://127.0.0.1:4400'")
  expect(inProcess?.code).toContain(
    "flags.value({ project: 'shop', environment: 'live' }, 'new-checkout', context, true)",
  )
  expect(curl?.code).toContain('curl -s http://127.0.0.1:4400/evaluator/evaluate')
})

it('Quotation marks and line breaks in a value are escaped', () => {
  const [client] = snippetsOf(flagWith('greeting', 'string', 'It\'s "new"\n\\'), place)
  expect(client?.code).toContain(`text('It\\'s "new"\\n\\\\')`)
})
