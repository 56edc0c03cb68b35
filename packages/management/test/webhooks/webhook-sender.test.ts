import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { settle } from '../../../server/test/fake-clock.ts'
import { NodeWebhookSender, type ResolvedAddress } from '../../src/node/webhook-sender.ts'
import { type FakeTimeouts, useFakeTimeouts } from './fake-timeouts.ts'
import { Receiver, status } from './receiver.ts'

const LOCAL = new NodeWebhookSender({ allowLoopback: true })
const STRICT = new NodeWebhookSender({ allowLoopback: false })

const V4 = (address: string): ResolvedAddress => ({ address, family: 4 })
const V6 = (address: string): ResolvedAddress => ({ address, family: 6 })

const post = (sender: NodeWebhookSender, url: string) =>
  sender.send({ url, headers: { 'webhook-id': '1' }, body: '{}' })

/** Starts a TCP server without HTTP. */
async function listenRaw(
  onConnection: (socket: Socket) => void,
): Promise<Server & { port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    onConnection(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(server, { port: (server.address() as AddressInfo).port })
}

/** Starts a TCP server, and answers the first data. `received` resolves after the answer. */
async function listenOnce(answer: (socket: Socket) => void) {
  let signalReceived = () => {}
  const received = new Promise<void>((resolve) => {
    signalReceived = resolve
  })
  const raw = await listenRaw((socket) =>
    socket.once('data', () => {
      answer(socket)
      signalReceived()
    }),
  )
  return { raw, received }
}

describe('webhook URLs', () => {
  it.each([
    'https://hooks.example.com',
    'https://hooks.example.com:8443/a/b?c=d',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]:444/x',
    'https://xn--bcher-kva.example/',
  ])('The URL %s is allowed', (url) => {
    expect(STRICT.refusalOf(url)).toBeUndefined()
  })

  it.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://0x7f.0.0.0x1/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    'https://0/',
    'https://localhost/',
    'https://LOCALHOST.:444/',
    'https://api.localhost/',
    'https://10.1.2.3/',
    'https://3232235777/',
    'https://169.254.169.254/latest/meta-data/',
    'https://0xa9fea9fe/',
    'https://100.64.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://192.0.2.1/',
    'https://[::1]/',
    'https://[::]/',
    'https://[0:0:0:0:0:ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::ffff:169.254.169.254]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::1]/',
    'https://[fe80::1]/',
    'https://[fd00:ec2::254]/',
    'https://[ff02::1]/',
    'https://[2001:db8::1]/',
  ])('The URL %s is refused and never connected to', async (url) => {
    expect(STRICT.refusalOf(url)).toBe('must not point to a private, local or reserved address')
    expect(await post(STRICT, url)).toEqual({ status: null, fault: 'host' })
  })

  it.each([
    ['http://hooks.example.com/', 'must begin with https://'],
    ['ftp://hooks.example.com/', 'must begin with https://'],
    ['file:///etc/passwd', 'must begin with https://'],
    ['https://user:password@hooks.example.com/', 'must not contain credentials'],
    ['https://user@hooks.example.com/', 'must not contain credentials'],
    ['https://', 'is not a URL'],
    ['https://[::1', 'is not a URL'],
    ['https://999.1.1.1/', 'is not a URL'],
    ['', 'is not a URL'],
  ])('The URL %j is refused', (url, why) => {
    expect(STRICT.refusalOf(url)).toBe(why)
  })

  it('Only a URL of this machine may omit TLS, and only if allowLoopback is set', () => {
    for (const url of ['http://127.0.0.1:80/', 'http://localhost/', 'https://[::1]/']) {
      expect(LOCAL.refusalOf(url)).toBeUndefined()
    }
    for (const url of ['https://10.0.0.1/', 'http://8.8.8.8/', 'http://0.0.0.0/']) {
      expect(LOCAL.refusalOf(url)).toMatch(/private/)
    }
  })
})

describe('host names of webhooks', () => {
  let receiver: Receiver

  beforeEach(async () => {
    receiver = await Receiver.start()
  })
  afterEach(() => receiver.close())

  it.each<[string, readonly ResolvedAddress[]]>([
    ['loopback', [V4('127.0.0.1')]],
    ['loopback of IPv6', [V6('::1')]],
    ['a mapped address', [V6('::ffff:127.0.0.1')]],
    ['the metadata address of a cloud', [V4('169.254.169.254')]],
    ['a private address among public ones', [V4('8.8.8.8'), V4('127.0.0.1')]],
    ['a link-local address among public ones', [V6('2606:4700:4700::1111'), V6('fe80::1%lo')]],
    ['no address', []],
  ])('A host name that resolves to %s is refused', async (_what, addresses) => {
    const sender = new NodeWebhookSender({ allowLoopback: false, lookup: async () => addresses })
    const answer = await post(sender, `https://hooks.example.com:${receiver.port}/`)
    expect(answer).toEqual({ status: null, fault: 'host' })
    expect(receiver.received).toEqual([])
  })

  it('An unknown host name has the same fault as a refused address', async () => {
    const unknown = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
    }
    const sender = new NodeWebhookSender({ allowLoopback: false, lookup: unknown })
    expect(await post(sender, 'https://hooks.example.com/')).toEqual({
      status: null,
      fault: 'host',
    })
  })

  it('A host name is resolved once per attempt', async () => {
    const resolved: string[] = []
    // DNS rebinding: the second resolution returns a different address.
    const sender = new NodeWebhookSender({
      allowLoopback: true,
      lookup: async (hostname) => {
        resolved.push(hostname)
        return [V4(resolved.length === 1 ? '127.0.0.1' : '169.254.169.254')]
      },
    })
    const url = `http://rebinding.example:${receiver.port}/hook`
    expect(await post(sender, url)).toEqual({ status: 204, fault: null })
    expect(resolved).toEqual(['rebinding.example'])
    // The next attempt resolves the name again and refuses the new address.
    expect(await post(sender, url)).toEqual({ status: null, fault: 'host' })
    expect(receiver.received).toHaveLength(1)
    expect(receiver.received[0]?.headers.host).toBe(`rebinding.example:${receiver.port}`)
  })

  it('A public host name without TLS is refused', async () => {
    const lookup = async () => [V4('8.8.8.8')]
    const sender = new NodeWebhookSender({ allowLoopback: true, lookup })
    expect(await post(sender, 'http://hooks.example.com/')).toEqual({ status: null, fault: 'host' })
  })
})

describe('responses of receivers', () => {
  let receiver: Receiver

  beforeEach(async () => {
    receiver = await Receiver.start()
  })
  afterEach(() => receiver.close())

  it('A status 2xx is a success', async () => {
    for (const code of [200, 201, 202, 204, 299]) {
      receiver.answer = status(code)
      expect(await post(LOCAL, receiver.url)).toEqual({ status: code, fault: null })
    }
    expect(receiver.received[0]).toMatchObject({
      method: 'POST',
      path: '/',
      headers: { 'content-type': 'application/json', 'user-agent': 'ff-webhooks' },
      body: '{}',
    })
  })

  it('Any other status is a failure', async () => {
    for (const code of [400, 401, 404, 410, 429, 500, 503]) {
      receiver.answer = status(code)
      expect(await post(LOCAL, receiver.url)).toEqual({ status: code, fault: 'status' })
    }
  })

  it('A redirect is a failure and is not followed', async () => {
    const other = await Receiver.start()
    for (const code of [301, 302, 303, 307, 308]) {
      receiver.answer = status(code, { location: `${other.url}/inside` })
      expect(await post(LOCAL, receiver.url)).toEqual({ status: code, fault: 'redirect' })
    }
    expect(other.received).toEqual([])
    await other.close()
  })

  it('An endless response body does not change the result and takes bounded memory', async () => {
    receiver.answer = (response) => {
      response.writeHead(200)
      const fill = () => {
        while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
      }
      response.on('drain', fill)
      fill()
    }
    const before = process.memoryUsage().rss
    for (let turn = 0; turn < 5; turn += 1) {
      expect(await post(LOCAL, receiver.url)).toEqual({ status: 200, fault: null })
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024)
  })

  it('A response with large headers or without HTTP is a failure', async () => {
    receiver.answer = status(200, { pad: 'x'.repeat(12 * 1024) })
    expect(await post(LOCAL, receiver.url)).toEqual({ status: null, fault: 'response' })
    const raw = await listenRaw((socket) =>
      socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.9\r\n\r\n')),
    )
    const answer = await post(LOCAL, `http://127.0.0.1:${raw.port}/`)
    expect(answer).toEqual({ status: null, fault: 'response' })
    raw.close()
  })

  it('A connection that is refused or closed is a failure', async () => {
    receiver.answer = (response) => response.destroy()
    expect(await post(LOCAL, receiver.url)).toEqual({ status: null, fault: 'connection' })
    const gone = await listenRaw(() => undefined)
    gone.close()
    await once(gone, 'close')
    const answer = await post(LOCAL, `http://127.0.0.1:${gone.port}/`)
    expect(answer).toEqual({ status: null, fault: 'connection' })
  })

  it('A receiver without TLS behind an https URL is a failure', async () => {
    const answer = await post(LOCAL, `https://127.0.0.1:${receiver.port}/`)
    expect(answer).toEqual({ status: null, fault: 'tls' })
    expect(receiver.received).toEqual([])
  })

  it('Each message is sent over a separate connection', async () => {
    let connections = 0
    const raw = await listenRaw((socket) => {
      connections += 1
      socket.on('data', () =>
        socket.write('HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\n\r\n'),
      )
    })
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await post(LOCAL, `http://127.0.0.1:${raw.port}/`)).toMatchObject({ status: 204 })
    }
    expect(connections).toBe(3)
    raw.close()
  })

  it('Proxy settings of the environment are ignored', async () => {
    const proxy = await Receiver.start()
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']
    const before = names.map((name) => process.env[name])
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : proxy.url
    try {
      expect(await post(LOCAL, receiver.url)).toEqual({ status: 204, fault: null })
      expect(proxy.received).toEqual([])
    } finally {
      for (const [index, name] of names.entries()) {
        const value = before[index]
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
      await proxy.close()
    }
  })
})

describe('the time limit of an attempt', () => {
  const SLOW: readonly [string, (socket: Socket) => void][] = [
    ['there is no response', () => undefined],
    [
      'the headers are sent slowly',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        socket.write('a: b\r\n')
      },
    ],
  ]

  /** Advances the time to the limit of the attempt, before which the attempt must not end. */
  async function reachLimit({ advance }: FakeTimeouts, attempt: Promise<unknown>): Promise<void> {
    let hasEnded = false
    void attempt.finally(() => {
      hasEnded = true
    })
    advance(4999)
    await settle()
    expect(hasEnded).toBe(false)
    advance(1)
  }

  it.each(SLOW)('An attempt ends after five seconds when %s', async (_what, answer) => {
    const timeouts = useFakeTimeouts()
    const { raw, received } = await listenOnce(answer)
    const attempt = post(LOCAL, `http://127.0.0.1:${raw.port}/`)
    await received
    await reachLimit(timeouts, attempt)
    expect(await attempt).toEqual({ status: null, fault: 'timeout' })
    raw.close()
  })

  it('An attempt ends after five seconds when the host name is not resolved', async () => {
    const timeouts = useFakeTimeouts()
    let signalLookup = () => {}
    const lookedUp = new Promise<void>((resolve) => {
      signalLookup = resolve
    })
    const lookup = () => {
      signalLookup()
      return new Promise<never>(() => undefined)
    }
    const sender = new NodeWebhookSender({ allowLoopback: false, lookup })
    const attempt = post(sender, 'https://hooks.example.com/')
    await lookedUp
    await reachLimit(timeouts, attempt)
    expect(await attempt).toEqual({ status: null, fault: 'timeout' })
  })

  it('A slow response body does not change a successful status', async () => {
    const timeouts = useFakeTimeouts()
    const { raw, received } = await listenOnce((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
      socket.write('x')
    })
    const attempt = post(LOCAL, `http://127.0.0.1:${raw.port}/`)
    await received
    await reachLimit(timeouts, attempt)
    expect(await attempt).toEqual({ status: 200, fault: null })
    raw.close()
  })
})
