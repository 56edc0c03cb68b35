import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { ConfigError } from './config/config-error.ts'
import { findUrl, listen } from './listening.ts'

const place = { host: '127.0.0.1', port: 80 }

/** Returns a server on which `listen` fails with this code. */
function serverWithout(code: string) {
  const server = createServer()
  server.listen = () => {
    process.nextTick(() =>
      server.emit('error', Object.assign(new Error(`listen ${code}`), { code })),
    )
    return server
  }
  return server
}

it.each([
  ['EADDRINUSE', 'Port 80 is in use; set PORT.'],
  ['EACCES', 'Port 80 requires more permissions; set PORT to 1024 or higher.'],
  ['EADDRNOTAVAIL', 'HOST "127.0.0.1" is not an address of this machine; set it to'],
  ['ENOTFOUND', 'HOST "127.0.0.1" is not a known name or address; set it to'],
  ['EAFNOSUPPORT', 'The server cannot listen on HOST "127.0.0.1" (EAFNOSUPPORT); set it to'],
])('listen explains the error %s', async (code, message) => {
  const failed = listen(serverWithout(code), place).catch((error: unknown) => error)
  expect(await failed).toBeInstanceOf(ConfigError)
  expect(String(await failed)).toContain(message)
})

it.each(['192.0.2.1', 'no-such-host.invalid'])('The host %s is refused', async (host) => {
  await expect(findUrl({ host, port: 0 })).rejects.toThrow(`HOST "${host}" is not `)
})

it('findUrl returns a URL on which a server can listen afterwards', async () => {
  const url = await findUrl({ host: '127.0.0.1', port: 0 })
  const server = createServer()
  expect(await listen(server, { host: '127.0.0.1', port: Number(new URL(url).port) })).toBe(url)
  server.close()
})
