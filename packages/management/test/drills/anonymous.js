// Opens sockets that never send an init, and keeps each until the server closes it.
// Parameters: the port and the number of sockets per second.
// Prints `opened N refused N closed N` on SIGTERM.
import { connect } from 'node:net'

const [port, perSecond] = process.argv.slice(2).map(Number)
const UPGRADE =
  'GET /ws/sdk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
const counts = { opened: 0, refused: 0, closed: 0 }
const startedAt = performance.now()
let begun = 0

function open() {
  begun += 1
  const socket = connect(port, '127.0.0.1', () => socket.write(UPGRADE))
  socket.once('data', (data) => {
    if (data.includes('101 Switching')) counts.opened += 1
    else counts.refused += 1
  })
  socket.on('data', () => undefined)
  socket.on('error', () => undefined)
  socket.on('close', () => {
    counts.closed += 1
  })
}

setInterval(() => {
  const due = ((performance.now() - startedAt) / 1000) * perSecond
  while (begun < due) open()
}, 10)

process.once('SIGTERM', () => {
  const { opened, refused, closed } = counts
  process.stdout.write(`opened ${opened} refused ${refused} closed ${closed}\n`, () =>
    process.exit(0),
  )
})
