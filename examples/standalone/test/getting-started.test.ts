import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { RunningStandalone } from './running-standalone.ts'

const PAGE = readFileSync(new URL('../../../docs/getting-started.md', import.meta.url), 'utf8')
const START = 'FF_ADMIN_TOKEN=development-token npx -y pnpm@10.34.9 start\n'
const URL_IN_PAGE = 'http://127.0.0.1:4400'

it('The commands of "Getting started", pasted in order, have the described results', async () => {
  const [start, ...blocks] = [...PAGE.matchAll(/```sh\n([\s\S]*?)```/g)].map(
    ([, code = '']) => code,
  )
  expect(start).toBe(START)
  const server = new RunningStandalone({ FF_ADMIN_TOKEN: 'development-token' })
  try {
    const url = await server.listening()
    const script = blocks.map((block) => `${block}\necho "§"\n`).join('')
    const { stdout } = await promisify(execFile)('bash', [
      '-euo',
      'pipefail',
      '-c',
      script.replaceAll(URL_IN_PAGE, url),
    ])
    const [, , values, , changed, switchedOff] = stdout.split('§\n')
    expect(JSON.parse(values ?? '')).toMatchObject({
      'support-channel': 'chat',
      'free-shipping-threshold': 40,
    })
    expect(changed).toContain('"name":"Free plan"')
    // The replies to the poll and to the change can arrive in either order.
    expect(changed).toContain('"support-channel":"chat"')
    expect(switchedOff).toMatch(/"is_active":false.*"is_active":true/s)
  } finally {
    await server.destroy()
  }
})
