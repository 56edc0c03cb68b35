import { expect, it } from 'vitest'
import { readConfig } from '../config.ts'
import { unknownVariables } from './unknown-variables.ts'
import { VARIABLES } from './variables.ts'

it('The list of variables contains exactly the variables that readConfig reads', () => {
  const read = new Set<PropertyKey>()
  const get = (_: object, name: PropertyKey) => void read.add(name)
  readConfig(new Proxy({}, { get }))
  expect([...read].sort()).toEqual([...VARIABLES].sort())
})

it.each([
  ['FF_DATADIR', 'FF_DATA_DIR'],
  ['FF_PORT', 'PORT'],
  ['FF_HOST', 'HOST'],
  ['FF_WORKER', 'FF_WORKERS'],
  ['FF_ADMIN_PASS', 'FF_ADMIN_PASSWORD'],
  ['FF_STRIPE_SECRET', 'FF_STRIPE_SECRET_KEY'],
  ['FF_METRIC_PUBLIC', 'FF_METRICS_PUBLIC'],
  ['FF_DEMO_TRAFIC', 'FF_DEMO_TRAFFIC'],
  ['FF_DASBOARD', 'FF_DASHBOARD'],
  ['FF_data_dir', undefined],
  ['FF_', undefined],
  ['FF_TURBO', undefined],
  [`FF_${'X'.repeat(100_000)}`, undefined],
])('unknownVariables suggests the nearest name', (name, nearest) => {
  const advice = nearest === undefined ? 'The server ignores it.' : `Did you mean ${nearest}?`
  expect(unknownVariables({ [name]: '1' })).toEqual([`${name} is not a known variable. ${advice}`])
})

it('unknownVariables accepts known variables and variables of other programs', () => {
  const known = Object.fromEntries(VARIABLES.map((name) => [name, '1']))
  expect(unknownVariables({ ...known, PATH: '/bin', MY_FF_DATADIR: '1', FFMPEG: '1' })).toEqual([])
})
