import { connect, createServer } from 'node:net'
import { startListening } from './postgres-store.ts'

/** The name of a database, which points to one of several servers. */
export interface PostgresName {
  /** The URL of the database by this name. */
  readonly url: string
  /** The number of connections by this name so far. */
  readonly connections: () => number
  /** Lets later connections reach another server. Open connections stay. */
  readonly pointTo: (url: string) => void
}

/** Creates a name that points to the server of a URL at first, until the end of the test. */
export async function openPostgresName(first: string): Promise<PostgresName> {
  let target = new URL(first)
  let connections = 0
  const proxy = createServer((client) => {
    connections += 1
    const server = connect(Number(target.port), target.hostname)
    client.on('error', () => server.destroy())
    server.on('error', () => client.destroy())
    client.on('close', () => server.destroy())
    server.on('close', () => client.destroy())
    client.pipe(server).pipe(client)
  })
  const { href } = Object.assign(new URL(first), { port: await startListening(proxy) })
  const pointTo = (url: string) => {
    target = new URL(url)
  }
  return { url: href, connections: () => connections, pointTo }
}
