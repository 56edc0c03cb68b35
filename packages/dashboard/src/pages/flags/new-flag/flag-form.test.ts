import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../api/api-error.ts'
import { encodeRequest } from '../../../api/api-request.ts'
import { messages } from '../../../messages/messages.ts'
import { emptyForm, formIssues, keyOf, toBody, withType } from './flag-form.ts'

const PROJECT = '22222222-2222-4222-8222-222222222222'
const texts = messages.newFlag

describe('the form of a new flag', () => {
  it('The key is derived from the name until the user types one.', () => {
    expect(keyOf({ name: 'Überprüfung, neu!', ownKey: undefined })).toBe('uberprufung-neu')
    expect(keyOf({ name: '日本', ownKey: undefined })).toBe('')
    expect(keyOf({ name: 'Any', ownKey: 'my.key' })).toBe('my.key')
    expect(keyOf({ name: 'x'.repeat(300), ownKey: undefined })).toHaveLength(64)
  })

  it('A derived key is valid for the codec, although its name was cut off at a dash.', () => {
    const form = { ...emptyForm(), name: `${'x'.repeat(63)} y` }
    const input = { params: { projectId: PROJECT }, body: toBody(form) }
    expect(() => encodeRequest('createFlag', input)).not.toThrow()
  })

  it('A boolean flag serves false until another variation is chosen.', () => {
    const form = { ...emptyForm(), name: 'Any' }
    expect(toBody(form).variations).toEqual([
      { key: 'true', value: 'true', isDefault: false },
      { key: 'false', value: 'false', isDefault: true },
    ])
  })

  it('Another type replaces the variations, the same type keeps them.', () => {
    const form = withType(emptyForm(), 'number')
    expect(form.variations.map(({ value }) => value)).toEqual(['0', '0'])
    expect(form.servedId).toBe(form.variations[0]?.id)
    expect(withType(form, 'number')).toBe(form)
  })

  it('A form without input names the fields that are missing.', () => {
    expect(formIssues(emptyForm(), true)).toEqual([
      { path: 'name', message: texts.nameMissing },
      { path: 'key', message: texts.keyMissing },
      { path: 'X-FF-Comment', message: texts.commentMissing },
    ])
  })

  it('A value that is not of the type is reported at its field.', () => {
    const form = { ...withType(emptyForm(), 'number'), name: 'Any' }
    const [first, second] = form.variations
    if (first === undefined || second === undefined) throw new Error('two variations are expected')
    const faulty = { ...form, variations: [first, { ...second, value: '0x10' }] }
    expect(formIssues(faulty, false)).toEqual([
      { path: 'variations.1.value', message: texts.notNumber },
    ])
  })

  it('JSON that is not valid is reported with its line and column.', () => {
    const form = { ...withType(emptyForm(), 'json'), name: 'Any' }
    const [first] = form.variations
    if (first === undefined) throw new Error('a variation is expected')
    const faulty = { ...form, variations: [{ ...first, value: '{"a": 1,\n "b": }' }] }
    expect(formIssues(faulty, false)).toEqual([
      { path: 'variations.0.value', message: texts.json.invalidAt(2, 7) },
    ])
  })

  it('The codec reports a key that is not valid with the name of the field.', () => {
    const form = { ...emptyForm(), name: 'Any', ownKey: 'not valid' }
    const input = { params: { projectId: PROJECT }, body: toBody(form) }
    const attempt = () => encodeRequest('createFlag', input)
    expect(attempt).toThrow(ApiError)
    try {
      attempt()
    } catch (error) {
      expect((error as ApiError).issues.map(({ path }) => path)).toEqual(['key'])
    }
  })
})
