import { expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import * as vue from '../src/index.ts'

it('@ff/vue has exactly the documented entries', () => {
  const entries = ['.', './package.json']
  expect(Object.keys(manifest.exports)).toEqual(entries)
  expect(Object.keys(manifest.publishConfig.exports)).toEqual(entries)
})

it('@ff/vue exports exactly the listed names', () => {
  expect(Object.keys(vue)).toEqual(['createFlags'])
})
