import { describe, expect, it } from 'vitest'
import { scaledImpact } from './impact-numbers.ts'

describe('scaledImpact', () => {
  it('The impact of 512 in 10,000 of 18,234 contexts is about 934, within 53.', () => {
    const scaled = scaledImpact({ changed: 512, evaluated: 10_000, inWindow: 18_234 })
    expect(scaled.estimate).toBe(934)
    // By hand: 5.12 % ± 1.96 · √(0.0512 · 0.9488 / 10000 · 8234 / 18233) of 18,234, about ± 53.
    expect(scaled.low).toBeGreaterThan(876)
    expect(scaled.low).toBeLessThan(890)
    expect(scaled.high).toBeGreaterThan(980)
    expect(scaled.high).toBeLessThan(995)
  })

  it('A sample of all contexts has no uncertainty.', () => {
    expect(scaledImpact({ changed: 7, evaluated: 100, inWindow: 100 })).toEqual({
      estimate: 7,
      low: 7,
      high: 7,
    })
  })

  it('A sample without a change does not prove that no context changes.', () => {
    const scaled = scaledImpact({ changed: 0, evaluated: 100, inWindow: 10_000 })
    expect(scaled).toMatchObject({ estimate: 0, low: 0 })
    expect(scaled.high).toBeGreaterThan(100)
  })
})
