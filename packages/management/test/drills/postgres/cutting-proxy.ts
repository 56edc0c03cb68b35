import { connect, createServer, type Socket } from 'node:net'
import { startListening } from '../../../../storage/test/postgres-store.ts'

/** The types of the messages that end a statement: Query, and Sync of a statement with parameters. */
const ENDS: readonly number[] = [...Buffer.from('QS')]

/** A proxy before a PostgreSQL server that loses its connections after some statements. */
export interface CuttingProxy {
  readonly url: string
  /**
   * Lets this number of statements reach the server, and then loses all connections. The server
   * runs these statements, but the response to the last one is lost.
   */
  readonly cutAfter: (statements: number) => void
}

/** Starts a proxy before the server of a URL, which is closed after the test. */
export async function startCuttingProxy(url: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(url)
  let remaining = 0
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname)
    const messages = new Messages()
    const cut = () => {
      client.destroy()
      server.end()
    }
    client.on('data', (bytes) => {
      for (const message of messages.read(bytes)) {
        if (remaining === 0) return cut()
        server.write(message.bytes)
        if (ENDS.includes(message.type)) remaining -= 1
      }
      if (remaining === 0) cut()
    })
    server.on('data', (bytes) => client.write(bytes))
    endTogether(client, server)
  })
  const own = Object.assign(new URL(url), { port: await startListening(proxy) })
  const cutAfter = (statements: number) => {
    remaining = statements
  }
  return { url: own.href, cutAfter }
}

function endTogether(client: Socket, server: Socket): void {
  client.on('error', () => undefined)
  server.on('error', () => undefined)
  client.on('close', () => server.end())
  server.on('close', () => client.destroy())
}

interface Message {
  /** The code of the first letter; 0 for the first message of a connection, which has none. */
  readonly type: number
  readonly bytes: Buffer
}

/** Divides what a client sends into messages. */
class Messages {
  #rest = Buffer.alloc(0)
  #isFirst = true

  /** Returns the messages that are complete with these bytes. */
  read(bytes: Buffer): readonly Message[] {
    this.#rest = Buffer.concat([this.#rest, bytes])
    const messages: Message[] = []
    for (;;) {
      const start = this.#isFirst ? 0 : 1
      const end = this.#rest.length < start + 4 ? Infinity : start + this.#rest.readUInt32BE(start)
      if (this.#rest.length < end) return messages
      const type = this.#isFirst ? 0 : (this.#rest[0] ?? 0)
      messages.push({ type, bytes: this.#rest.subarray(0, end) })
      this.#rest = this.#rest.subarray(end)
      this.#isFirst = false
    }
  }
}
