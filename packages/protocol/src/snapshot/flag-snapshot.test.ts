import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { serializeSnapshot, toSnapshot } from './flag-snapshot.ts'

const HOSTILE = '</script><!--<script>\u2028\u2029"\\'

it('The JSON of a snapshot cannot end a script element, and is a literal of JavaScript.', () => {
  const snapshot = toSnapshot({ [HOSTILE]: HOSTILE, nested: [{ [HOSTILE]: null }] }, 7, HOSTILE)
  const text = serializeSnapshot(snapshot)
  expect(text).not.toMatch(/[<\u2028\u2029]/)
  expect(JSON.parse(text)).toEqual(snapshot)
  expect(JSON.stringify(runInNewContext(`(${text})`))).toBe(JSON.stringify(snapshot))
})

it('A snapshot has no version and no context if they are not known.', () => {
  expect(toSnapshot({ theme: 'dark' }, 0, undefined)).toEqual({ flags: { theme: 'dark' } })
  expect(Object.keys(toSnapshot({}, 3, '{}'))).toEqual(['flags', 'version', 'context'])
})
