import { expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import * as express from '../src/express.ts'
import * as fastify from '../src/fastify.ts'
import * as client from '../src/index.ts'
import * as local from '../src/local.ts'
import * as node from '../src/node.ts'
import * as testing from '../src/testing.ts'
import * as vercel from '../src/vercel.ts'

it('@ff/client has exactly the documented entries', () => {
  const entries = [
    '.',
    './testing',
    './local',
    './node',
    './express',
    './fastify',
    './vercel',
    './package.json',
  ]
  expect(Object.keys(manifest.exports)).toEqual(entries)
  expect(Object.keys(manifest.publishConfig.exports)).toEqual(entries)
})

it('@ff/client exports exactly the listed names', () => {
  expect(Object.keys(client).sort()).toEqual([
    'createFlagClient',
    'localStorageCache',
    'memoryCache',
    'serializeSnapshot',
  ])
  expect(Object.keys(testing)).toEqual(['createTestClient'])
  expect(Object.keys(local)).toEqual(['createLocalClient'])
  expect(Object.keys(express)).toEqual(['requestFlags'])
  expect(Object.keys(fastify)).toEqual(['requestFlags'])
  expect(Object.keys(vercel).sort()).toEqual(['ff', 'getProviderData'])
  expect(Object.keys(node).sort()).toEqual([
    'createFlagClient',
    'createLocalClient',
    'diskCache',
    'fileSource',
  ])
})
