import { connect, createServer, type LookupFunction } from 'node:net'
import { describe, expect, it } from 'vitest'

describe('The network in tests', () => {
  it.each([[undefined], ['0.0.0.0'], ['::'], ['198.51.100.1']])(
    'A test cannot listen on the address %s',
    (host) => {
      expect(() => createServer().listen({ port: 0, host })).toThrow(/must listen on a loopback/)
    },
  )

  it('A test cannot connect to another machine', () => {
    expect(() => connect(80, '192.0.2.1')).toThrow(/must connect to a loopback/)
    expect(() => connect({ port: 80, host: 'example.test' })).toThrow(/must connect to a loopback/)
  })

  it('A name that a test resolves itself must have a loopback address', async () => {
    const connectTo = (address: string) => {
      const lookup: LookupFunction = (_host, _options, callback) => callback(null, address, 4)
      const socket = connect({ port: 9, host: 'example.test', lookup, autoSelectFamily: false })
      return new Promise((resolve) => socket.on('error', ({ message }) => resolve(message)))
    }
    expect(await connectTo('192.0.2.1')).toMatch(/must connect to a loopback/)
    expect(await connectTo('127.0.0.1')).toMatch(/ECONNREFUSED/)
  })

  it('fetch cannot reach another machine', async () => {
    const cause = { message: expect.stringMatching(/must connect to a loopback/) }
    await expect(fetch('http://192.0.2.1/')).rejects.toMatchObject({ cause })
  })

  it('A test can listen on and connect to a loopback address', async () => {
    const server = createServer((socket) => socket.end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const socket = connect(port, '127.0.0.1')
    await new Promise((resolve) => socket.on('close', resolve).resume())
    server.close()
  })
})
