import { expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import * as dashboard from '../src/handler/index.ts'
import * as node from '../src/handler/node.ts'

it('@ff/dashboard has exactly the documented entries', () => {
  const entries = ['.', './node', './package.json']
  expect(Object.keys(manifest.exports)).toEqual(entries)
  expect(Object.keys(manifest.publishConfig.exports)).toEqual(entries)
})

it('@ff/dashboard exports exactly the listed names', () => {
  expect(Object.keys(dashboard)).toEqual(['createDashboard'])
  expect(Object.keys(node)).toEqual(['toNodeHandler'])
})
