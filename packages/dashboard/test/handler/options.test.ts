import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { createDashboard, type DashboardOptions } from '../../src/handler/index.ts'
import { fixtureApp } from './fixture-app.ts'

it.each([
  ['ui', '"ui"'],
  ['//ui', '"//ui"'],
  ['/ui//', '"/ui//"'],
  ['/a b', '"/a b"'],
  ['/a"><script>', '"/a\\"><script>"'],
  ['/a?b', '"/a?b"'],
  ['/a#b', '"/a#b"'],
  ['/a/../b', '"/a/../b"'],
  ['/%2e%2e/b', '"/%2e%2e/b"'],
  ['https://flags.test/ui', '"https://flags.test/ui"'],
  [7, '7'],
  [null, 'null'],
])('The path %o is refused with an error that names the option', (path, shown) => {
  for (const name of ['basePath', 'apiPath']) {
    const options = { [name]: path, folder: fixtureApp() } as DashboardOptions
    expect(() => createDashboard(options)).toThrow(
      `\`${name}\` must be a path with a leading slash, such as "/flags", or "" for the root (got ${shown}).`,
    )
  }
})

it.each([tmpdir(), '/nowhere', 7])('The folder %o without an application is refused', (folder) => {
  expect(() => createDashboard({ folder } as DashboardOptions)).toThrow(
    '`folder` must be a folder with the file index.html of the built application',
  )
})

it('An unknown option is refused with the list of options', () => {
  const options = { basepath: '/ui' } as DashboardOptions
  expect(() => createDashboard(options)).toThrow(
    '`basepath` is not an option; the options are basePath, apiPath, folder.',
  )
})

it('Options that are not an object are refused', () => {
  const options = '/ui' as DashboardOptions
  expect(() => createDashboard(options)).toThrow('must be an object (got "/ui")')
})

it.each(['', '/', '/ui', '/ui/', '/a/b.c/~d', '/caf%C3%A9'])('The path %o is accepted', (path) => {
  expect(() => createDashboard({ basePath: path, folder: fixtureApp() })).not.toThrow()
})
