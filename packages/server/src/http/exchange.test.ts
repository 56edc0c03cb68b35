import { describe, expect, it } from 'vitest'
import { targetBelow } from './exchange.ts'

describe('targetBelow', () => {
  it.each([
    ['', '/a/b?c=d&e', { path: '/a/b', query: 'c=d&e' }],
    ['', '/', { path: '/', query: '' }],
    ['', '/a?', { path: '/a', query: '' }],
    ['', '/a?b?c', { path: '/a', query: 'b?c' }],
    ['', '/a#b?c', { path: '/a', query: '' }],
    ['/flags', '/flags/a', { path: '/a', query: '' }],
    ['/flags', '/flags', { path: '/', query: '' }],
    ['/flags', '/flags?a', { path: '/', query: 'a' }],
    ['/flags', 'http://host:1/flags/a?b', { path: '/a', query: 'b' }],
    ['', 'HTTPS://host', { path: '/', query: '' }],
    ['', '/a%2Fb', { path: '/a%2Fb', query: '' }],
    ['', '//ofrep/v1/evaluate/flags', { path: '/ofrep/v1/evaluate/flags', query: '' }],
    ['/flags', '/flags///evaluator/poll?a', { path: '/evaluator/poll', query: 'a' }],
    ['', '/health/', { path: '/health', query: '' }],
    ['/flags', '/flags/ready/?a', { path: '/ready', query: 'a' }],
    ['', '//ws/sdk/', { path: '/ws/sdk', query: '' }],
    ['', '/docs/', { path: '/docs/', query: '' }],
    ['', '/ofrep/v1/evaluate/flags/', { path: '/ofrep/v1/evaluate/flags/', query: '' }],
    ['', '//', { path: '/', query: '' }],
  ])('Below the base path %j, the target of %j is %j', (basePath, address, target) => {
    expect(targetBelow(basePath, address)).toEqual(target)
  })

  it.each([
    ['/flags', '/flagship'],
    ['/flags', '/other/flags/a'],
    ['/flags', '/Flags/a'],
    ['/flags', '/?/flags/a'],
    ['/flags', 'http://flags/a'],
    ['', '*'],
  ])('The base path %j does not contain the address %j', (basePath, address) => {
    expect(targetBelow(basePath, address)).toBeUndefined()
  })
})
