import { describe, expect, it } from 'vitest'
import { ValuesTemplate } from './values-template.ts'

/** Returns a template. The value of each name is `null` or one of two texts that contain it. */
function templateOf(names: readonly string[]) {
  const template = new ValuesTemplate(
    names,
    Int32Array.from(names, (_, at) => 3 * at),
  )
  const values = names.flatMap((name) => [null, `${name} one`, `${name} two`])
  return {
    fill: (served: readonly number[], start = 0) => {
      const codes = [...Array<number>(start).fill(7), ...served.map((each) => each << 3)]
      return template.fill(values, Int32Array.from(codes), start)
    },
  }
}

const namesOf = (count: number, prefix = 'flag') => {
  return Array.from({ length: count }, (_, at) => `${prefix}-${at}`)
}

describe('ValuesTemplate', () => {
  it.each([...[0, 1, 31, 32, 33], ...[64, 69, 1_020, 1_021]])(
    'A template with %d names has the value of each name, in the order of the names',
    (count) => {
      const names = namesOf(count, `of-${count}`)
      const { fill } = templateOf(names)
      for (const start of [0, 5]) {
        const served = names.map((_, at) => (at + start) % 3)
        const expected = names.map((name, at) => {
          return [name, [null, `${name} one`, `${name} two`][served[at] ?? 0]]
        })
        expect(Object.entries(fill(served, start))).toEqual(expected)
      }
    },
  )

  it('Templates fill the right values for more hidden classes than V8 caches', () => {
    const layouts = Array.from({ length: 12 }, (_, number) => namesOf(150, `layout-${number}`))
    const templates = layouts.map(templateOf)
    for (const one of [1, 2]) {
      for (const [number, { fill }] of templates.entries()) {
        const names = layouts[number] ?? []
        const values = fill(names.map(() => one))
        expect(Object.keys(values)).toEqual(names)
        expect(Object.values(values)).toEqual(
          names.map((name) => `${name} ${['', 'one', 'two'][one]}`),
        )
      }
    }
  })

  it('The values inherit no properties, for any names', () => {
    for (const count of [3, 64]) {
      const names = ['__proto__', 'constructor', 'toString', ...namesOf(count)]
      const values = templateOf(names).fill(names.map(() => 1))
      expect(Object.getPrototypeOf(values)).toBeNull()
      expect(Object.keys(values)).toEqual(names)
      for (const name of names) expect(Object.entries(values)).toContainEqual([name, `${name} one`])
      expect(values['valueOf']).toBeUndefined()
    }
  })

  it('Names that look like numbers have the values of these names', () => {
    const names = [...namesOf(32), '404', '7']
    const values = templateOf(names).fill(names.map(() => 2))
    for (const name of names) expect([name, values[name]]).toEqual([name, `${name} two`])
  })

  it('fill returns a new object for each call', () => {
    const names = namesOf(32)
    const { fill } = templateOf(names)
    const first = fill(names.map(() => 1))
    fill(names.map(() => 2))
    expect(first['flag-3']).toBe('flag-3 one')
  })
})
