import { describe, expect, it } from 'vitest'
import {
  type AttributeDraft,
  type ContextDraft,
  partsOf,
  readContextDraft,
  startContextDraft,
  withMode,
} from './context-draft.ts'
import { parseJsonText } from './json-text.ts'

let row = 0
function attribute(name: string, type: AttributeDraft['type'], text: string): AttributeDraft {
  row += 1
  return { id: `test-${row}`, name, type, text }
}

function draftWith(...attributes: readonly AttributeDraft[]): ContextDraft {
  const draft = startContextDraft('user-42')
  return { ...draft, parts: draft.parts.map((part) => ({ ...part, attributes })) }
}

describe('The form of a context', () => {
  it('Values have the chosen type, and __proto__ is an ordinary attribute', () => {
    const { context } = readContextDraft(
      draftWith(
        attribute('plan', 'text', '42'),
        attribute('age', 'number', '42'),
        attribute('beta', 'boolean', 'true'),
        attribute('__proto__', 'json', '["a"]'),
      ),
    )
    expect(JSON.stringify(context)).toBe(
      '{"kind":"user","key":"user-42","plan":"42","age":42,"beta":true,"__proto__":["a"]}',
    )
  })

  it('Several kinds make a multi context, and the form shows the same context again', () => {
    const context = { kind: 'multi', user: { key: 'u', age: 5 }, organization: { key: 'o' } }
    const read = readContextDraft({ ...startContextDraft(''), parts: partsOf(context) })
    expect(read.context).toEqual(context)
  })

  it.each([
    [attribute('age', 'number', 'six'), 'must be a number, such as 42 or 0.5'],
    [attribute('beta', 'boolean', 'yes'), 'must be true or false'],
    [attribute('', 'text', 'x'), 'is required'],
    [attribute('a', 'json', '[1'), 'Line 1, column 3: the text ends too early'],
  ])('The fault of %o is at its field', (faulty, message) => {
    const { context, faults } = readContextDraft(draftWith(faulty))
    expect(context).toBeUndefined()
    expect([...faults.values()]).toEqual([message])
  })

  it('An attribute that was just added is neither a fault nor part of the context', () => {
    const { context, faults } = readContextDraft(draftWith(attribute('', 'number', '')))
    expect(faults.size).toBe(0)
    expect(Object.keys(context ?? {})).toEqual(['kind', 'key'])
  })

  it('A kind that is missing or listed twice is a fault', () => {
    const draft = startContextDraft('a')
    const twice = { ...draft, parts: [...draft.parts, ...startContextDraft('b').parts] }
    expect(readContextDraft(twice).faults.size).toBe(2)
  })
})

describe('The JSON of a context', () => {
  it('A fault keeps the JSON shown, and a valid text can be shown as a form', () => {
    const draft = withMode(startContextDraft('a'), 'json')
    expect(JSON.parse(draft.json)).toEqual({ kind: 'user', key: 'a' })
    const faulty = { ...draft, json: '[1]' }
    expect(withMode(faulty, 'form')).toBe(faulty)
    expect(readContextDraft(faulty).faults.get('json')).toMatch(/must be an object/)
    expect(withMode(draft, 'form').parts).toMatchObject([{ kind: 'user', key: 'a' }])
  })

  it.each([
    ['{"a": 1,\n "b": x}', 'Line 2, column 7: x is not expected'],
    ['{"a": 1', 'Line 1, column 8: the text ends too early'],
    ['', 'Line 1, column 1: the text ends too early'],
  ])('The fault of %j has its line and column', (text, fault) => {
    expect(parseJsonText(text).fault).toBe(fault)
  })
})
