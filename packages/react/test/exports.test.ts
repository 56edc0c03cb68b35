import { expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import * as react from '../src/index.ts'

it('@ff/react has exactly the documented entries', () => {
  const entries = ['.', './package.json']
  expect(Object.keys(manifest.exports)).toEqual(entries)
  expect(Object.keys(manifest.publishConfig.exports)).toEqual(entries)
})

it('@ff/react exports exactly the listed names', () => {
  expect(Object.keys(react)).toEqual(['createFlagHooks'])
})
