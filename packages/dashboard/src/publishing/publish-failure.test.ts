import { describe, expect, it } from 'vitest'
import { ApiError, type ApiErrorDetails } from '../api/api-error.ts'
import { publishFailure } from './publish-failure.ts'

const failure = (details: Omit<ApiErrorDetails, 'message'>) =>
  publishFailure(new ApiError({ ...details, message: '' })).kind

describe('publishFailure', () => {
  it('Without an answer, it is not known whether the draft was published.', () => {
    expect(failure({ status: 0, code: 'TIMEOUT' })).toBe('unknown')
    expect(failure({ status: 0, code: 'UNREACHABLE' })).toBe('unknown')
    expect(failure({ status: 503, code: 'UNAVAILABLE' })).toBe('unknown')
    expect(failure({ status: 502, code: 'INTERNAL' })).toBe('unknown')
    expect(failure({ status: 200, code: 'UNEXPECTED_REPLY' })).toBe('unknown')
  })

  it('A refusal of the server, or of the page before sending, has published nothing.', () => {
    expect(failure({ status: 0, code: 'INVALID_INPUT' })).toBe('refused')
    expect(failure({ status: 400, code: 'COMMENT_REQUIRED' })).toBe('refused')
    expect(failure({ status: 401, code: 'UNAUTHENTICATED' })).toBe('refused')
    expect(failure({ status: 429, code: 'RATE_LIMITED' })).toBe('refused')
  })

  it('A 409 with the current configuration is a conflict; every other 409 is a refusal.', () => {
    const state = { is_active: true, default_variation_id: null, off_variation_id: null }
    const configuration = {
      state: { ...state, targets: [], prerequisites: [] },
      ...{ targeting_rules: [], rollouts: [], revision: 2 },
    }
    const data = { configuration, version: 42, changed_by: 'Ada' }
    const error = new ApiError({ status: 409, code: 'CONFLICT', message: '', data })
    expect(publishFailure(error)).toMatchObject({
      kind: 'conflict',
      current: { version: 42, changedBy: 'Ada', configuration: { state: { isActive: true } } },
    })
    expect(failure({ status: 409, code: 'CONFLICT', data: null })).toBe('refused')
  })
})
