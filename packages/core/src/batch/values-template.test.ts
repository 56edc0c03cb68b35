import { describe, expect, it } from 'vitest'
import { propertyNames, ValuesTemplate } from './values-template.ts'

/** Returns a template. The value of each name is `null` or one of two texts that contain it. */
function templateOf(names: readonly string[]) {
  const template = new ValuesTemplate(
    propertyNames(names),
    Int32Array.from(names, (_, at) => 3 * at),
    names.flatMap((name) => valuesOf(name)),
  )
  return { template, fill: fillOf(template) }
}

function valuesOf(name: string): readonly (string | null)[] {
  return [null, `${name} one`, `${name} two`]
}

function fillOf(template: ValuesTemplate) {
  return (served: readonly number[], start = 0) => {
    const codes = [...Array<number>(start).fill(7), ...served.map((each) => each << 3)]
    return template.fill(Int32Array.from(codes), start)
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
          return [name, valuesOf(name)[served[at] ?? 0]]
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

  /** Expects a fill to have the right values, in the order of the names. */
  const expectFill = (
    fill: ReturnType<typeof fillOf>,
    names: readonly string[],
    served: readonly number[],
  ) => {
    const expected = names.map((name, at) => [name, valuesOf(name)[served[at] ?? 0]])
    expect(Object.entries(fill(served))).toEqual(expected)
  }

  it.each([
    ['rare other values', (at: number, turn: number) => ((at + turn) % 20 === 0 ? 2 : 1)],
    [
      'one frequent value for half of the flags',
      (at: number, turn: number) => (at % 2) * (turn % 3),
    ],
    ['equally frequent values', (at: number, turn: number) => (at * turn + turn) % 3],
    [
      'a change of the most frequent value',
      (at: number, turn: number) => (turn < 100 ? at % 3 : 1),
    ],
  ])(
    'The template is renewed during 8,300 fills with %s, and every fill is right',
    (_, servedAt) => {
      for (const [count, last] of [
        [40, 8_226],
        [600, 80],
      ] as const) {
        const names = namesOf(count)
        const { fill } = templateOf(names)
        const turns = [...Array(80).keys(), 8_191, 8_192, 8_193, 8_222, 8_223, 8_224, 8_225].filter(
          (each) => each < last,
        )
        let turn = 0
        for (const next of turns) {
          // The fills between are not compared, to save time.
          for (; turn < next; turn += 1) fill(names.map((__, at) => servedAt(at, turn)))
          expectFill(
            fill,
            names,
            names.map((__, at) => servedAt(at, next)),
          )
          turn += 1
        }
      }
    },
  )

  it('A template with other values of some flags is right before and after the template is renewed', () => {
    const names = namesOf(40)
    for (const fills of [0, 1, 31, 32, 33]) {
      for (const other of [1, 2]) {
        const { template, fill } = templateOf(names)
        for (let turn = 0; turn < fills; turn += 1)
          fill(names.map((_, at) => 1 + ((at * turn) % other)))
        const values = names.flatMap((name) => valuesOf(name === 'flag-7' ? 'changed' : name))
        const next = fillOf(template.withValues(values, [7]))
        for (const served of [0, 1, 2]) {
          const expected = names.map(
            (name) => valuesOf(name === 'flag-7' ? 'changed' : name)[served],
          )
          expect(Object.values(next(names.map(() => served)))).toEqual(expected)
          expectFill(
            fill,
            names,
            names.map(() => served),
          )
        }
      }
    }
  })
})

/**
 * Returns a function that fills a template of `count` names and returns the indexes of the names
 * with a value that it sets, and the same function for the template with other values of two names.
 */
function countedTemplate(count: number) {
  const names = namesOf(count, `counted-${count}`)
  const reads: number[] = []
  const values = new Proxy(
    names.flatMap((name) => valuesOf(name)),
    {
      get: (target, index) => {
        reads.push(Number(index))
        return Reflect.get(target, index)
      },
    },
  )
  const offsets = Int32Array.from(names, (_, at) => 3 * at)
  const template = new ValuesTemplate(propertyNames(names), offsets, values)
  const counted = (fill: ReturnType<typeof fillOf>) => (servedAt: (at: number) => number) => {
    reads.length = 0
    fill(names.map((_, at) => servedAt(at)))
    return reads.map((index) => Math.floor(index / 3))
  }
  const changed = () => counted(fillOf(template.withValues(values, [1, 3])))
  return { fill: counted(fillOf(template)), changed }
}

describe('The template of a ValuesTemplate', () => {
  const all = (count: number) => [...Array(count).keys()]

  it('The first fill selects the values of the template, and later fills set only other values', () => {
    const { fill } = countedTemplate(40)
    fill((at) => at % 3)
    expect(fill((at) => at % 3)).toEqual([])
    expect(fill((at) => (at === 7 || at === 20 ? 1 : at) % 3)).toEqual([20])
  })

  it('After 32 fills, the template has the most frequent value of each name', () => {
    const { fill } = countedTemplate(40)
    for (let turn = 0; turn < 31; turn += 1) fill((at) => (turn < 5 || at === turn ? 2 : 1))
    // The 32nd fill creates the template.
    expect(fill(() => 1)).toEqual(all(40))
    expect(fill(() => 1)).toEqual([])
    expect(fill((at) => (at === 3 ? 0 : 1))).toEqual([3])
    expect(fill(() => 2)).toEqual(all(40))
  })

  it.each([
    [512, [0]],
    [513, []],
  ])('With %d names, a value with 22 of 32 votes is always set: %j', (count, set) => {
    const { fill } = countedTemplate(count)
    const votes = [22, 23]
    for (let turn = 0; turn < 32; turn += 1) {
      fill((at) => (turn < (votes[at] ?? 32) ? 1 : 2))
    }
    expect(fill(() => 1)).toEqual(set)
  })

  it('A template with other values of some names sets only values that differ, and continues to count', () => {
    const { fill, changed } = countedTemplate(5)
    for (let turn = 0; turn < 40; turn += 1) fill((at) => 1 + (at % 2))
    const next = changed()
    expect(next((at) => 1 + (at % 2))).toEqual([])
    for (let turn = 41; turn < 8_192; turn += 1) next(() => 1)
    expect(next(() => 1)).toEqual([1, 3])
    for (let turn = 8_193; turn < 8_192 + 31; turn += 1) next(() => 1)
    expect(next(() => 1)).toEqual([0, 1, 2, 3, 4])
    expect(next(() => 1)).toEqual([])
  })

  it('The votes are counted again after every 8,192 fills', () => {
    const { fill } = countedTemplate(2)
    for (let turn = 0; turn < 8_192 + 31; turn += 1) fill(() => (turn < 8_192 ? 1 : 2))
    // This fill creates the next template.
    expect(fill(() => 2)).toEqual([0, 1])
    expect(fill(() => 2)).toEqual([])
  })

  it('With more than 1,020 names, every fill sets all values', () => {
    const [few, many] = [countedTemplate(1_020).fill, countedTemplate(1_021).fill]
    few(() => 1)
    many(() => 1)
    expect(few(() => 1)).toEqual([])
    expect(many(() => 1)).toEqual(all(1_021))
  })
})
