import { describe, expect, it } from 'vitest'
import golden from '../../test/golden/sdk-evaluate.json' with { type: 'json' }
import { asEvaluateRequest } from './evaluate.ts'

describe('asEvaluateRequest', () => {
  it('reads the golden request', () => {
    expect(asEvaluateRequest(golden.request)).toEqual(golden.request)
  })

  it('leaves out what it does not know', () => {
    expect(asEvaluateRequest({ context: {}, later: 1 })).toEqual({ context: {} })
  })

  it.each([
    undefined,
    null,
    'text',
    1,
    [],
    {},
    { context: null },
    { context: 'user' },
    { context: [] },
    Object.create({ context: {} }),
  ])('refuses %j', (body) => {
    expect(asEvaluateRequest(body)).toBeUndefined()
  })
})
