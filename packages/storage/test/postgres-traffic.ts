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
  /** Waits until all statements have ended and no other has followed. */
  quiet(): Promise<void>
}

/** The number of turns of the event loop after which no statement follows the last one. */
const QUIET_TURNS = 500

/** Observes all statements of this process until the test is finished. */
export function watchPostgres(): PostgresTraffic {
  const [statements, errors]: [string[], unknown[]] = [[], []]
  const clients = new Set<Client>()
  const pending = countPending()
  const query = Client.prototype.query as (...input: unknown[]) => unknown
  const spy = vi.spyOn(Client.prototype, 'query')
  spy.mockImplementation(function (this: Client, ...input: unknown[]) {
    clients.add(this)
    statements.push(String((input[0] as { text?: string }).text ?? input[0]))
    const result = Reflect.apply(query, this, input)
    if (result instanceof Promise) {
      pending.add(result)
      result.catch(({ code }) => errors.push(code))
    }
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
    async quiet() {
      let length = -1
      for (let turn = 0; turn < QUIET_TURNS; turn += 1) {
        if (pending.count() > 0 || statements.length !== length) turn = 0
        length = statements.length
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

type Callback = (...outcome: unknown[]) => void

/** Counts pending work, and the connections that are being opened until the test is finished. */
function countPending() {
  let count = 0
  const begin = () => {
    count += 1
    return () => {
      count -= 1
    }
  }
  const add = (work: Promise<unknown>) => {
    const end = begin()
    work.then(end, end)
  }
  const connect = Client.prototype.connect as (this: Client, callback?: Callback) => unknown
  const spy = vi.spyOn(Client.prototype, 'connect')
  const counted = function (this: Client, callback?: Callback) {
    if (callback === undefined) {
      const opened = connect.call(this)
      if (opened instanceof Promise) add(opened)
      return opened
    }
    const end = begin()
    return connect.call(this, (...outcome) => {
      end()
      callback(...outcome)
    })
  }
  spy.mockImplementation(counted as never)
  onTestFinished(() => spy.mockRestore())
  return { count: () => count, add }
}

interface Connection {
  readonly stream: { readonly bytesRead: number }
}
