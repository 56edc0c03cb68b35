// Starts clients that connect within one second, send an init, and obey `retryAfter` and
// `Retry-After` until each has received its flags.
// Parameters: the port, the SDK key and the number of clients.
// Prints the results as JSON and keeps the sockets open until its parent process ends it.
import { connect } from 'node:net'

const [port, sdkKey, clients] = process.argv.slice(2)
const UPGRADE =
  'GET /ws/sdk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
const INIT = frameOf(JSON.stringify({ type: 'init', sdkKey, context: { kind: 'user', key: 'u' } }))
const PING = Buffer.from([0x89, 0])
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])
const storm = { connected: 0, refused: 0, displaced: 0, lost: 0, mostAttempts: 0, waits: [] }
const startedAt = performance.now()

for (let client = 0; client < Number(clients); client += 1) {
  setTimeout(attempt, Math.random() * 1000, 1)
}

/** Makes one attempt of one client. After a refusal, retries after the required wait plus jitter. */
function attempt(number) {
  storm.mostAttempts = Math.max(storm.mostAttempts, number)
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(UPGRADE))
  const retry = (kind, seconds) => {
    socket.removeAllListeners('data').removeAllListeners('close').destroy()
    storm[kind] += 1
    if (kind !== 'lost') storm.waits.push(seconds)
    setTimeout(attempt, (seconds + Math.random()) * 1000, number + 1)
  }
  let received = ''
  let isUpgraded = false
  socket.on('data', (data) => {
    received += data.toString('latin1')
    const wait =
      /\r\nRetry-After: (\d+)\r\n/.exec(received) ?? /"retryAfter":(\d+)\}/.exec(received)
    if (wait !== null) {
      retry(received.includes('valid init') ? 'displaced' : 'refused', Number(wait[1]))
    } else if (!isUpgraded && received.includes('101 Switching')) {
      isUpgraded = true
      socket.write(INIT)
    } else if (received.includes('"flags":{"steady":false}')) {
      socket.removeAllListeners('data').on('data', (later) => {
        if (later.includes(PING)) socket.write(PONG)
      })
      storm.connected += 1
      if (storm.connected === Number(clients)) printStorm()
    }
  })
  socket.on('close', () => retry('lost', 1))
  socket.on('error', () => undefined)
}

function printStorm() {
  const seconds = (performance.now() - startedAt) / 1000
  process.stdout.write(`${JSON.stringify({ ...storm, seconds })}\n`)
}

/** Returns a WebSocket text frame with a mask of zeros. */
function frameOf(text) {
  const payload = Buffer.from(text)
  const head = [0x81, 0x80 | 126, payload.length >> 8, payload.length & 255, 0, 0, 0, 0]
  return Buffer.concat([Buffer.from(head), payload])
}
