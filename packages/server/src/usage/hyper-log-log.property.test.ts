import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import { HyperLogLog } from './hyper-log-log.ts'

function sketchOf(texts: Iterable<string>): HyperLogLog {
  const sketch = new HyperLogLog()
  for (const text of texts) sketch.add(text)
  return sketch
}

function keys(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
}

/** Texts of a sketch that stores its registers one by one, or all of them. */
const texts = fc.oneof(
  fc.array(fc.string()),
  fc.nat({ max: 300 }).map((count) => keys('text', count)),
)

describe('HyperLogLog', () => {
  it.each([10, 1000, 20_000, 45_000, 100_000])(
    'A sketch counts %i distinct texts to within 3 percent',
    (count) => {
      const estimate = sketchOf(keys('7f9c2ba4-e88f-4f2b-9c1a', count)).estimate()
      expect(Math.abs(estimate - count) / count).toBeLessThan(0.03)
    },
  )

  it.each([100, 10_000, 100_000])(
    'A sketch counts the first %i numbers to within 3 percent',
    (count) => {
      const texts = Array.from({ length: count }, (_, index) => String(index))
      expect(Math.abs(sketchOf(texts).estimate() - count) / count).toBeLessThan(0.03)
    },
  )

  it('An empty sketch has an estimate of 0', () => {
    expect(new HyperLogLog().estimate()).toBe(0)
  })

  it('A sketch counts thousands of texts to within 3 percent, even if each is added twice', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1000, max: 5000 }), (prefix, count) => {
        const texts = keys(prefix, count)
        const estimate = sketchOf([...texts, ...texts]).estimate()
        expect(Math.abs(estimate - count) / count).toBeLessThan(0.03)
      }),
      { numRuns: runs(20) },
    )
  })

  it('A merged sketch equals a sketch to which all texts were added', () => {
    fc.assert(
      fc.property(texts, texts, (left, right) => {
        const merged = sketchOf(left)
        merged.merge(sketchOf(right))
        expect(merged.toText()).toBe(sketchOf([...left, ...right]).toText())
      }),
      { numRuns: runs(100) },
    )
  })

  it('Adding a text returns true only if the sketch has changed', () => {
    const sketch = new HyperLogLog()
    expect(sketch.add('user-1')).toBe(true)
    expect(sketch.add('user-1')).toBe(false)
  })

  it.each([0, 1, 128, 129, 5000, 50_000])(
    'A sketch of %i texts is restored from its serialized text',
    (count) => {
      const sketch = sketchOf(keys('user', count))
      const text = sketch.toText()
      const parsed = HyperLogLog.parse(text)
      expect(parsed.toText()).toBe(text)
      expect(parsed.estimate()).toBe(sketch.estimate())
    },
  )

  it('The serialized text of a sketch is short if the sketch contains few texts', () => {
    expect(sketchOf(keys('user', 100)).toText().length).toBeLessThanOrEqual(400)
    expect(sketchOf(keys('user', 100_000)).toText().length).toBe(21_848)
  })
})
