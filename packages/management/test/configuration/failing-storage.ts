import { FlagError } from '@ff/core'
import type { Storage, StorageSession } from '@ff/storage'

const WRITES = ['insert', 'update', 'revive', 'purge', 'publish'] as const

/** A store of which one write in a transaction fails. */
export interface FailingStorage {
  readonly storage: Storage
  /** Lets the write with this number of each transaction fail, counted from 1; 0 for none. */
  failAt(write: number): void
  /** Returns the number of writes of the last transaction. */
  writes(): number
}

/** Wraps a store so that a chosen write in a transaction fails as if the store were lost. */
export function failingStorage(inner: Storage): FailingStorage {
  let failing = 0
  let last = { writes: 0 }
  const transaction: Storage['transaction'] = (lock, work) =>
    inner.transaction(lock, (session) => {
      // Writes of a failed transaction can end after the next one has begun.
      const own = { writes: 0 }
      last = own
      const count = () => {
        own.writes += 1
        if (own.writes === failing) throw new FlagError('UNAVAILABLE', 'This write fails.')
      }
      return work(withWrites(session, count))
    })
  return {
    storage: new Proxy(inner, {
      get: (target, name) => {
        if (name === 'transaction') return transaction
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    }),
    failAt(write) {
      failing = write
    },
    writes: () => last.writes,
  }
}

function withWrites(session: StorageSession, beforeWrite: () => void): StorageSession {
  const isWrite = (name: string | symbol) => WRITES.some((write) => write === name)
  return new Proxy(session, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return async (...input: unknown[]) => {
        if (isWrite(name)) beforeWrite()
        return member.apply(target, input)
      }
    },
  })
}
