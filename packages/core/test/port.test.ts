import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { portedDetail, sorted } from './port.ts'
import type { PortedSet } from './port-definition.ts'

const FOLDER = new URL('./vectors/', import.meta.url)
const names = readdirSync(FOLDER).filter(
  (name) => /\.json$/.test(name) && !name.startsWith('broken'),
)
const files = names.map((name) => [name, JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8'))])

let answers = 0

it.each(files)(
  '%s has the results of an engine that was written from the documentation alone',
  (_, file) => {
    const set: PortedSet = file.flagSet
    for (const { name, context, now, expect: values, details = {} } of file.cases) {
      const expected = new Map<string, object>(Object.entries(details))
      const timestamp = Date.parse(now ?? file.now ?? '2026-01-01T00:00:00.000Z')
      for (const flag of set.flags) {
        const detail = portedDetail(set, flag, context, timestamp)
        if (detail === undefined) continue
        answers += 1
        if (values !== undefined) {
          expect(sorted(detail.value), `${name}: ${flag.key}`).toBe(sorted(values[flag.key]))
        }
        expect(detail, `${name}: ${flag.key}`).toMatchObject(expected.get(flag.key) ?? {})
      }
    }
  },
)

it('The second engine evaluates most vectors that are not about single operators', () => {
  expect(answers).toBeGreaterThan(1_400)
})
