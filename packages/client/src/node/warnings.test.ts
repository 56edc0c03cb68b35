import { afterEach, beforeEach, expect, it, type MockInstance, vi } from 'vitest'
import { createWarner } from './warnings.ts'

let warn: MockInstance<typeof console.warn>

beforeEach(() => {
  warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
})

afterEach(() => warn.mockRestore())

const written = () => warn.mock.calls.map(([text]) => text as string)
const withCode = (message: string, code: string) => Object.assign(new Error(message), { code })

it('A text is written once.', () => {
  const report = createWarner()
  for (let n = 0; n < 3; n += 1) {
    report(new Error('broken'))
    report('text')
    report(null)
  }
  expect(written()).toEqual(['@ff/client: broken', '@ff/client: text', '@ff/client: null'])
})

it('Ten texts of each kind are written, and other kinds do not count.', () => {
  const report = createWarner()
  for (let n = 0; n < 5000; n += 1) report(new TypeError(`of user ${n}`))
  report(new Error('other'))
  report(withCode('no server', 'unreachable'))
  expect(written()).toHaveLength(12)
  expect(written().slice(10)).toEqual(['@ff/client: other', '@ff/client: no server'])
})

it('A refusal of the SDK key is always written, also after thousands of kinds.', () => {
  const report = createWarner()
  for (let n = 0; n < 5000; n += 1) report(withCode('failed', `kind ${n}`))
  warn.mockClear()
  for (let n = 0; n < 20; n += 1) report(withCode('refuses the SDK key', 'refused'))
  expect(written()).toHaveLength(20)
})
