import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const GOLDEN = new URL('../../../protocol/test/golden', import.meta.url)

const SDK_FILES = {
  evaluate: 'sdk-evaluate.json',
  poll: 'sdk-poll.json',
  getFlagSet: 'sdk-flag-set.json',
  reportEvents: 'sdk-events.json',
}

function read(path: string) {
  return JSON.parse(readFileSync(new URL(path, GOLDEN), 'utf8'))
}

/** The golden examples of the wire, one operation in a line. */
function shipped(): string {
  const files = readdirSync(new URL('endpoints/', GOLDEN)).sort()
  const examples: [name: string, example: unknown][] = files.map((file) => {
    return [file.replace(/\.json$/, ''), read(`endpoints/${file}`)]
  })
  for (const [name, file] of Object.entries(SDK_FILES)) {
    const { request: body, response } = read(file)
    examples.push([name, { body, response }])
  }
  const lines = examples.map(
    ([name, example]) => `${JSON.stringify(name)}: ${JSON.stringify(example)}`,
  )
  return `{\n${lines.join(',\n')}\n}\n`
}

// `npx vitest run --project server test/http/examples.test.ts -u` writes the file anew.
it('the examples that are shipped are the golden ones', async () => {
  await expect(shipped()).toMatchFileSnapshot('../../src/http/openapi/examples.json')
})
