import { once } from 'node:events'
import { request } from 'node:http'
import { asServerMessage, type FlagValues } from '@ff/protocol/sdk'
import { WebSocket } from 'ws'

/** Opens a socket, sends `init`, and yields the flags of each message. `return` closes the socket. */
export async function* socketMessages(
  url: string,
  init: object,
): AsyncGenerator<FlagValues, void, undefined> {
  const socket = new WebSocket(url)
  const texts: string[] = []
  socket.on('message', (data) => texts.push(data.toString()))
  try {
    await once(socket, 'open')
    socket.send(JSON.stringify(init))
    for (;;) {
      if (texts.length === 0) await once(socket, 'message')
      const message = asServerMessage(JSON.parse(texts.shift() ?? ''))
      if (message?.type !== 'flags')
        throw new Error(`Unexpected message: ${JSON.stringify(message)}`)
      yield message.flags
    }
  } finally {
    socket.close()
    if (socket.readyState !== WebSocket.CLOSED) await once(socket, 'close')
  }
}

/** Sends an upgrade request, and returns the status of the response; 0 if there is none. */
export async function upgradeStatus(url: string): Promise<number> {
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  return new Promise((resolve) => {
    const sent = request(url.replace(/^ws/, 'http'), { headers: upgrade })
    sent.on('error', () => resolve(0))
    sent.on('upgrade', (_, socket) => {
      socket.destroy()
      resolve(101)
    })
    sent.on('response', (response) => {
      response.destroy()
      resolve(response.statusCode ?? 0)
    })
    sent.end()
  })
}
