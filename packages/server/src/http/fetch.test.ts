import { describe, expect, it } from 'vitest'
import { jsonReply } from './exchange.ts'
import { createFetch, type RequestSender } from './fetch.ts'

/** Returns the address that the handler receives. */
async function addressFor(sender?: unknown): Promise<string | undefined> {
  let address: string | undefined = 'not called'
  const fetchFlags = createFetch('/flags', (exchange) => {
    address = exchange.address
    return jsonReply(200, {})
  })
  await fetchFlags(new Request('http://flags.test/flags/health'), sender as RequestSender)
  return address
}

describe('createFetch', () => {
  it('The handler receives the address that the host passes with a web request.', async () => {
    expect(await addressFor({ address: '203.0.113.7' })).toBe('203.0.113.7')
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an object without an address', { remoteAddr: {} }],
    ['an object with an address of another form', { address: { port: 80 } }],
  ])('The address is unknown if the host passes %s.', async (_, sender) => {
    expect(await addressFor(sender)).toBeUndefined()
  })
})
