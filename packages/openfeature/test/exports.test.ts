import * as sdk from '@openfeature/react-sdk'
import { expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import * as react from '../src/react.ts'
import * as server from '../src/server.ts'
import * as web from '../src/web.ts'

it('@ff/openfeature has exactly the documented entries', () => {
  const entries = ['./web', './server', './react', './package.json']
  expect(Object.keys(manifest.exports)).toEqual(entries)
  expect(Object.keys(manifest.publishConfig.exports)).toEqual(entries)
})

it('@ff/openfeature exports exactly the listed names', () => {
  expect(Object.keys(web)).toEqual(['createFlagProvider'])
  expect(Object.keys(server)).toEqual(['createFlagProvider'])
  expect(Object.keys(react).sort()).toEqual(Object.keys(sdk).sort())
})
