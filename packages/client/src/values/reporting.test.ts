import { expect, it } from 'vitest'
import { reportNew } from './reporting.ts'

it('An error is reported once in succession, and again after a success, whatever was thrown.', () => {
  for (const thrown of [new Error('full'), 'full', null, Object.create(null), { toString: 1 }]) {
    const reported: unknown[] = []
    const note = reportNew((error) => reported.push(error))
    note(thrown)
    note(thrown)
    note()
    note(thrown)
    expect(reported).toEqual([thrown, thrown])
  }
})
