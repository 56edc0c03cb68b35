import { describe, expect, it } from 'vitest'
import { directionOf, isFiltered, nextSort, toQuery } from './flags-search.ts'

describe('the search of the list of flags', () => {
  it('Without a choice, archived flags are left out and the order is by key.', () => {
    expect(toQuery({}, [])).toEqual({
      archived: false,
      sort: { field: 'key', direction: 'asc' },
    })
  })

  it('Each filter of the address becomes a parameter of the request.', () => {
    const search = { search: ' pay ', tag: 'web', type: 'json', state: 'off', env: 'live' } as const
    expect(toQuery({ ...search, archived: true, sort: 'updated_at:desc' }, ['live'])).toEqual({
      search: 'pay',
      tag: 'web',
      type: 'json',
      state: 'off',
      environmentId: 'live',
      archived: true,
      sort: { field: 'updatedAt', direction: 'desc' },
    })
  })

  it('An environment that does not exist is left out, because the server refuses it.', () => {
    expect(toQuery({ env: 'gone' }, ['live'])).not.toHaveProperty('environmentId')
  })

  it('White space is no search.', () => {
    expect(toQuery({ search: '  ', tag: ' ' }, [])).not.toHaveProperty('search')
    expect(toQuery({ search: '  ', tag: ' ' }, [])).not.toHaveProperty('tag')
  })

  it('A second click on a column reverses the order, a click on another column starts anew.', () => {
    expect(nextSort(undefined, 'key')).toBe('key:desc')
    expect(nextSort('key:desc', 'key')).toBe('key:asc')
    expect(nextSort('key:desc', 'name')).toBe('name:asc')
    expect(directionOf(undefined, 'key')).toBe('ascending')
    expect(directionOf('name:desc', 'name')).toBe('descending')
    expect(directionOf('name:desc', 'key')).toBe('none')
  })

  it('The order and the environment alone select no flags.', () => {
    expect(isFiltered({ sort: 'name:asc', env: 'live' })).toBe(false)
    expect(isFiltered({ tag: 'web' })).toBe(true)
    expect(isFiltered({ archived: true })).toBe(true)
  })
})
