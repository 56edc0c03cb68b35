import { describe, expect, it } from 'vitest'
import { addressOf, assertOwnOrigin } from './client.ts'

const from = (address: string | undefined, forwarded?: string) => ({
  address,
  isEncrypted: false,
  header: (name: string) => (name === 'x-forwarded-for' ? forwarded : undefined),
})

describe('addressOf', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:1:2::9', '2001:db8:1:2'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
  ])('A client with the IP address %s is identified as %s', (address, expected) => {
    expect(addressOf(from(address), false)).toBe(expected)
  })

  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['10.0.0.1, 198.51.100.7', '198.51.100.7'],
    ['198.51.100.7:50312', '198.51.100.7'],
    ['[2001:db8:1:2::9]:50312', '2001:db8:1:2'],
    ['10.0.0.1,', '192.0.2.1'],
    ['', '192.0.2.1'],
  ])(
    'Behind a trusted proxy that forwards %j, a client is identified as %s',
    (forwarded, expected) => {
      expect(addressOf(from('192.0.2.1', forwarded), true)).toBe(expected)
      expect(addressOf(from('192.0.2.1', forwarded), false)).toBe('192.0.2.1')
    },
  )

  it('The address of a client is undefined if the connection has no address', () => {
    expect(addressOf(from(undefined), true)).toBeUndefined()
  })
})

describe('assertOwnOrigin', () => {
  const isOwn = (origin: string | undefined, host: string, forwardedHost?: string) => {
    const headers: Record<string, string | undefined> = { origin, host }
    headers['x-forwarded-host'] = forwardedHost
    const client = {
      address: undefined,
      isEncrypted: false,
      header: (name: string) => headers[name],
    }
    try {
      assertOwnOrigin(client, forwardedHost !== undefined)
      return true
    } catch {
      return false
    }
  }

  it.each([
    [undefined, 'flags.test', undefined],
    ['https://flags.test', 'flags.test', undefined],
    ['https://flags.test', 'flags.test:443', undefined],
    ['http://flags.test', 'FLAGS.test:80', undefined],
    ['https://flags.test:8443', 'flags.test:8443', undefined],
    ['https://flags.test', '10.0.0.1:4400', 'flags.test:443'],
    ['https://flags.test', '10.0.0.1:4400', 'evil.test, flags.test'],
    ['https://[::1]', '[::1]:443', undefined],
  ])('The origin %s is that of the host %s, forwarded as %s', (origin, host, forwardedHost) => {
    expect(isOwn(origin, host, forwardedHost)).toBe(true)
  })

  it.each([
    ['https://evil.test', 'flags.test', undefined],
    ['https://flags.test', 'flags.test:80', undefined],
    ['http://flags.test', 'flags.test:443', undefined],
    ['https://flags.test', 'flags.test:8443', undefined],
    ['https://flags.test', 'flags.test:0', undefined],
    ['https://flags.test', 'flags.test:65536', undefined],
    ['https://flags.test', 'flags.test:443:443', undefined],
    ['https://flags.test:443.evil.test', 'flags.test:443', undefined],
    ['https://flags.test', 'flags.test', 'evil.test'],
    ['https://flags.test', 'flags.test', 'flags.test, evil.test'],
    ['null', 'flags.test', undefined],
    ['', '', undefined],
    ['https://', ':443', undefined],
  ])('The origin %s is not that of the host %s, forwarded as %s', (origin, host, forwardedHost) => {
    expect(isOwn(origin, host, forwardedHost)).toBe(false)
  })
})
