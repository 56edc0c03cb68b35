import { describe, expect, it } from 'vitest'
import { redisSettings } from './redis-settings.ts'

/** The server and the database of a URL, or its error. */
function outcomeOf(url: unknown): string {
  try {
    const { place, database, hasTls } = redisSettings({ url: url as string })
    return `${place} database ${database}${hasTls ? ' with TLS' : ''}`
  } catch (error) {
    return (error as Error).message
  }
}

const FORM = /^`url` must be a URL such as "redis:\/\/user:password@host:6379\/0"/

describe('URLs of Redis', () => {
  it.each([
    ['redis://db', 'db:6379 database 0'],
    ['redis://:hidden@db:6380/3', 'db:6380 database 3'],
    ['redis://u:hidden%40%2F%23%3F@db/0', 'db:6379 database 0'],
    ['rediss://u:hidden@db:6380', 'db:6380 database 0 with TLS'],
    ['redis://u:hidden@[::1]:6379/15', '::1:6379 database 15'],
    ['redis://u:hidden@db/1?family=6', 'db:6379 database 1'],
    ['rediss://u:hidden@db?ssl_cert_reqs=required', 'db:6379 database 0 with TLS'],
  ])('The URL %s names %s', (url, named) => {
    expect(outcomeOf(url)).toBe(named)
  })

  it.each([
    undefined,
    '',
    'db:6379',
    'http://u:hidden@db',
    'redis://u:hid/den@db',
    'redis://u:hid#den@db',
    'redis://u:hid?den@db',
    'redis://u:hid%zzden@db',
    'redis://u:hidden@db/name',
    'redis://u:hidden@db:port',
    'redis://u:hidden@db1,db2:6379',
    'redis://',
  ])('The URL %s is refused in one line without its password', (url) => {
    const outcome = outcomeOf(url)
    expect(outcome).toMatch(FORM)
    expect(outcome).not.toMatch(/hid|den@|\n/)
  })
})
