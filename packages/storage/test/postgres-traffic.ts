import { Client } from 'pg'
import { onTestFinished, vi } from 'vitest'

/** The code of PostgreSQL for a transaction that was ended because of a deadlock. */
export const DEADLOCK = '40P01'

/** What the driver has sent to PostgreSQL and received since `reset`. */
export interface PostgresTraffic {
  /** The texts of the statements. */
  readonly statements: readonly string[]
  /** The codes of the errors. */
  readonly errors: readonly unknown[]
  /** The number of bytes that were received. */
  bytesRead(): number
  reset(): void
}

/** Observes all statements of this process until the test is finished. */
export function watchPostgres(): PostgresTraffic {
  const [statements, errors]: [string[], unknown[]] = [[], []]
  const clients = new Set<Client>()
  const query = Client.prototype.query as (...input: unknown[]) => unknown
  const spy = vi.spyOn(Client.prototype, 'query')
  spy.mockImplementation(function (this: Client, ...input: unknown[]) {
    clients.add(this)
    statements.push(String((input[0] as { text?: string }).text ?? input[0]))
    const result = Reflect.apply(query, this, input)
    if (result instanceof Promise) result.catch(({ code }) => errors.push(code))
    return result as never
  })
  onTestFinished(() => spy.mockRestore())
  const read = () => {
    let sum = 0
    for (const { connection } of clients as Set<Client & { connection: Connection }>) {
      sum += connection.stream.bytesRead
    }
    return sum
  }
  let before = 0
  return {
    statements,
    errors,
    bytesRead: () => read() - before,
    reset() {
      statements.length = errors.length = 0
      before = read()
    },
  }
}

interface Connection {
  readonly stream: { readonly bytesRead: number }
}
