import { describe, expect, it } from 'vitest'
import golden from '../../test/golden/sdk-evaluate.json' with { type: 'json' }
import { asEvaluateRequest } from './evaluate.ts'

describe('asEvaluateRequest', () => {
  it('asEvaluateRequest accepts the golden request', () => {
    expect(asEvaluateRequest(golden.request)).toEqual(golden.request)
  })

  it('asEvaluateRequest omits unknown fields', () => {
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
  ])('asEvaluateRequest refuses the body %j', (body) => {
    expect(asEvaluateRequest(body)).toBeUndefined()
  })
})
