import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const GOLDEN = new URL('../../../protocol/test/golden/', import.meta.url)

const SDK_FILES = {
  evaluate: 'sdk-evaluate.json',
  poll: 'sdk-poll.json',
  getFlagSet: 'sdk-flag-set.json',
  pollFlagSet: 'sdk-flag-set-poll.json',
  reportEvents: 'sdk-events.json',
}

function read(path: string) {
  return JSON.parse(readFileSync(new URL(path, GOLDEN), 'utf8'))
}

/** Returns the golden examples of the wire, one operation per line. */
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

// `npx vitest run --project management test/http/examples.test.ts -u` writes the file.
it('The examples of the OpenAPI document equal the golden files.', async () => {
  await expect(shipped()).toMatchFileSnapshot('../../src/openapi/examples.json')
})
