import type { ExplainedFlag } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import { textOf } from '../messages/phrases/fragment.ts'
import { type ExplanationStep, reasonSentence, stepWords } from './explanation-words.ts'

const flag: ExplainedFlag = {
  flagKey: 'checkout',
  value: true,
  variationId: 'v',
  variationKey: 'on',
  reason: 'DEFAULT',
  prerequisiteChain: [],
  attributesRead: [],
  steps: [],
}
const names = { segment: (id: string) => (id === 'seg-1' ? 'Partners' : id) }

/** Returns a step in words, with its detail after a bar. */
function wordsOf(step: Partial<ExplanationStep>, explained = flag): string {
  const whole = { type: 'flag', outcome: 'held', text: 'the text', ...step } as ExplanationStep
  const { sentence, detail } = stepWords(whole, { flag: explained, names, rule: 2 })
  return detail === undefined ? textOf(sentence) : `${textOf(sentence)} | ${textOf(detail)}`
}

describe('stepWords', () => {
  it('The state of a flag is on, off, or the text of the server', () => {
    expect(wordsOf({ type: 'flag' })).toBe('The flag is on.')
    const off = { ...flag, reason: 'DISABLED' } as const
    expect(wordsOf({ type: 'flag', outcome: 'not_held' }, off)).toBe('The flag is off.')
    expect(wordsOf({ type: 'flag', outcome: 'not_held' })).toBe('the text')
  })

  it('A prerequisite says what its flag serves', () => {
    const step = { type: 'prerequisite', flagKey: 'shop', variationKey: 'new' } as const
    expect(wordsOf(step)).toBe('Prerequisite met: flag shop serves new.')
    expect(wordsOf({ ...step, outcome: 'not_held', variationKey: null })).toBe(
      'Prerequisite not met: flag shop serves nothing.',
    )
    expect(wordsOf({ type: 'prerequisite', outcome: 'not_held' })).toBe('the text')
  })

  it('An empty context and a target keep the text of the server', () => {
    expect(wordsOf({ type: 'context', outcome: 'not_held' })).toBe('the text')
    expect(wordsOf({ type: 'target' })).toBe('the text')
  })

  it('A rule has its position and says whether it matches', () => {
    expect(wordsOf({ type: 'rule' })).toBe('Rule 2 matches.')
    expect(wordsOf({ type: 'rule', outcome: 'not_held' })).toBe('Rule 2 does not match.')
    expect(wordsOf({ type: 'rule', outcome: 'skipped' })).toMatch(/^Rule 2 matches, but/)
  })

  it('A condition is in words, with the value that was found', () => {
    const step = {
      type: 'condition',
      attribute: 'plan',
      operator: 'in',
      value: '["a","b"]',
    } as const
    expect(wordsOf({ ...step, found: '"a"' })).toBe('plan is one of a and b | It is "a".')
    expect(wordsOf({ ...step, found: null })).toBe('plan is one of a and b | It is missing.')
  })

  it('A negated condition is shown as negated, and an attribute named not is not', () => {
    const step = { type: 'condition', operator: 'gt', value: '5', found: '6' } as const
    const negated = wordsOf({ ...step, attribute: 'age', text: 'not age gt "5": holds; it is 6.' })
    expect(negated).toBe('age is not greater than 5 (or is not set) | It is 6.')
    const named = { attribute: 'not age', text: 'not age gt "5": holds; it is 6.' }
    expect(wordsOf({ ...step, ...named })).toBe('not age is greater than 5 | It is 6.')
  })

  it('A condition on a flag or a segment names what it refers to', () => {
    const step = {
      type: 'condition',
      attribute: 'shop',
      operator: 'flag_is',
      value: '["new"]',
    } as const
    expect(wordsOf({ ...step, flagKey: 'shop', variationKey: 'old' })).toBe(
      'flag shop serves new | The flag serves old.',
    )
    const segment = { type: 'condition', attribute: '', operator: 'in_segment' } as const
    expect(wordsOf({ ...segment, value: '["seg-1"]' })).toBe('in segment Partners')
  })

  it('An invalid condition keeps the text of the server as its detail', () => {
    expect(wordsOf({ type: 'condition', attribute: 'a', operator: 'gt', value: 'x' })).toBe(
      'a is greater than x | the text',
    )
  })

  it('A segment has its name; an unknown segment keeps the text of the server', () => {
    expect(wordsOf({ type: 'segment', segmentId: 'seg-1' })).toBe(
      'The context is in segment Partners. | the text',
    )
    expect(wordsOf({ type: 'segment', segmentId: 'seg-1', outcome: 'not_held' })).toMatch(/not in/)
    expect(wordsOf({ type: 'segment', segmentId: 'seg-2' })).toBe('the text')
  })

  it('A rollout says its bucket, its share and what it serves', () => {
    const step = { type: 'rollout', attribute: 'user.key', found: '"u-1"', bucket: 12_345 } as const
    const range = { from: 0, to: 25_000 }
    expect(wordsOf({ ...step, range, variationKey: 'on' })).toBe(
      'The rollout by user.key "u-1" serves on. | Bucket 12,345 of 100,000 is between 0 % and 25 %.',
    )
    expect(wordsOf({ ...step, outcome: 'skipped' })).toBe(
      'The rollout by user.key "u-1" serves nothing. | Bucket 12,345 of 100,000 (12.345 %) is outside the shares of the rollout.',
    )
    expect(wordsOf({ type: 'rollout', attribute: 'user.key', found: null })).toBe(
      'The context has no user.key, so the rollout serves nothing.',
    )
  })

  it('The last step says what is served and why', () => {
    expect(wordsOf({ type: 'answer', variationKey: 'on' })).toBe(
      'Serves on: no rule serves this context.',
    )
    expect(wordsOf({ type: 'answer', variationKey: null })).toBe(
      'Serves nothing: no rule serves this context.',
    )
  })
})

describe('reasonSentence', () => {
  it.each([
    [{ reason: 'DISABLED' }, 'the flag is off'],
    [{ reason: 'DEFAULT', prerequisiteKey: 'shop' }, 'the prerequisite shop is not met'],
    [{ reason: 'TARGETING_MATCH', ruleId: 'r' }, 'a rule matches'],
    [{ reason: 'TARGETING_MATCH' }, 'an individual target lists the key'],
    [{ reason: 'SPLIT', ruleId: 'r' }, 'a rule matches, by its rollout'],
    [{ reason: 'STATIC' }, 'the flag has no rules'],
    [{ reason: 'ERROR', errorCode: 'MALFORMED_FLAG' }, 'the definition of the flag is broken'],
    [
      { reason: 'DEFAULT', errorCode: 'TARGETING_KEY_MISSING' },
      'no rule serves this context (the context lacks the key of a rollout)',
    ],
  ] as const)('The reason %o is in words', (fields, words) => {
    expect(textOf(reasonSentence({ ...flag, ...fields }))).toBe(words)
  })
})
