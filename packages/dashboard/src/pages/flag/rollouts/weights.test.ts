import { describe, expect, it } from 'vitest'
import { endOf, equalWeights, keyStep, limitsOf, withEnd } from './weights.ts'

const press = (key: string, shiftKey = false) => keyStep({ key, shiftKey })

describe('keyStep', () => {
  it('An arrow moves a handle by 0.1, with Shift by 1, and Page by 10', () => {
    expect([press('ArrowRight'), press('ArrowLeft', true)]).toEqual([0.1, -1])
    expect([press('PageUp'), press('PageDown')]).toEqual([10, -10])
    expect([press('Home'), press('End'), press('Tab')]).toEqual([-100, 100, undefined])
  })
})

describe('withEnd', () => {
  it('A handle takes from the next share what it gives to its share', () => {
    expect(withEnd([50, 30, 20], 0, 50.1)).toEqual([50.1, 29.9, 20])
    expect(withEnd([50, 30, 20], 1, 60)).toEqual([50, 10, 40])
  })

  it('A handle stops at the handles beside it', () => {
    expect(withEnd([50, 30, 20], 0, 95)).toEqual([80, 0, 20])
    expect(withEnd([50, 30, 20], 1, 10)).toEqual([50, 0, 50])
    expect(limitsOf([50, 30, 20], 1)).toEqual([50, 100])
  })

  it('The last handle moves alone and stops at 100', () => {
    expect(withEnd([20, 30], 1, 120)).toEqual([20, 80])
    expect(withEnd([25], 0, 30)).toEqual([30])
  })

  it('Many small steps leave no rounding errors', () => {
    let weights = [33.333, 66.667]
    for (let step = 0; step < 1000; step += 1) {
      weights = withEnd(weights, 0, endOf(weights, 0) + (step % 2 === 0 ? 0.1 : -0.1))
    }
    expect(weights).toEqual([33.333, 66.667])
  })
})

describe('equalWeights', () => {
  it('Equal weights are 100 in total', () => {
    expect(equalWeights(3)).toEqual([33.334, 33.333, 33.333])
    expect(equalWeights(4)).toEqual([25, 25, 25, 25])
  })
})
