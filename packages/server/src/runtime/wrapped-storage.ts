import type { Storage } from '@ff/storage'

/** Returns a store with another function for transactions. The store itself is not changed. */
export function withTransaction(storage: Storage, transaction: Storage['transaction']): Storage {
  return new Proxy(storage, {
    get(target, name) {
      if (name === 'transaction') return transaction
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
