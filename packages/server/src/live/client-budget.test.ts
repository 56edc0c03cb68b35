import { isFlagError } from '@ff/core'
import { describe, expect, it } from 'vitest'
import type { EnvironmentScope } from '../access/scope.ts'
import { ClientBudget, type Reservation } from './client-budget.ts'

/** Returns a scope. The key `a.1` belongs to the organization `a`. */
function scopeOf(keyId: string): EnvironmentScope {
  const organizationId = keyId.slice(0, keyId.indexOf('.'))
  return { keyId, organizationId, environmentId: 'live', kind: 'client', rateLimit: 1 }
}

/** Creates a budget, and a list of the clients that it has ended. */
function createScene(limits: { readonly clients: number; readonly bytes: number }) {
  const budget = new ClientBudget(limits)
  const ended: string[] = []
  const open = (keyId: string, bytes = 0, count = 1): Reservation[] =>
    Array.from({ length: count }, () =>
      budget.reserve(scopeOf(keyId), bytes, { end: () => void ended.push(`${keyId} ${bytes}`) }),
    )
  const codeOf = (work: () => unknown) => {
    try {
      work()
      return undefined
    } catch (error) {
      return isFlagError(error) ? error.code : error
    }
  }
  return { budget, ended, open, codeOf }
}

const BYTES = 1000

describe('ClientBudget', () => {
  it('A full client budget ends a client of the largest key of the largest organization', () => {
    const { budget, ended, open } = createScene({ clients: 10, bytes: BYTES })
    open('a.small', 0, 2)
    open('a.large', 0, 5)
    open('b.only', 0, 3)
    open('b.only')
    open('c.new')
    expect(ended).toEqual(['a.large 0', 'a.large 0'])
    expect(budget.gaveWay).toBe(2)
  })

  it('One key can use the whole number of clients if no other key needs room', () => {
    const { ended, open } = createScene({ clients: 10, bytes: BYTES })
    open('a.only', 0, 10)
    expect(ended).toEqual([])
  })

  it('A full client budget refuses a new client of the largest key with the seconds to wait', () => {
    const { budget, ended, open } = createScene({ clients: 4, bytes: BYTES })
    open('a.only', 0, 4)
    expect(() => open('a.only')).toThrow(
      expect.objectContaining({
        code: 'RATE_LIMITED',
        details: { seconds: expect.any(Number), isOverload: true },
      }),
    )
    expect([ended, budget.gaveWay]).toEqual([[], 0])
  })

  it('A full client budget ends a client of the largest key of the same organization', () => {
    const { ended, open } = createScene({ clients: 4, bytes: BYTES })
    open('a.large', 0, 4)
    open('a.small')
    expect(ended).toEqual(['a.large 0'])
  })

  it('Two organizations do not displace each other in turns', () => {
    const { ended, open, codeOf } = createScene({ clients: 10, bytes: BYTES })
    open('a.1', 0, 10)
    for (let time = 0; time < 20; time += 1) {
      codeOf(() => open('b.1'))
      codeOf(() => open('a.1'))
    }
    expect(ended).toEqual(Array.from({ length: 5 }, () => 'a.1 0'))
  })

  it('A key can use at most a quarter of the bytes, and an organization half', () => {
    const { open, codeOf } = createScene({ clients: 100, bytes: BYTES })
    open('a.1', 250)
    expect(codeOf(() => open('a.1', 1))).toBe('RATE_LIMITED')
    open('a.2', 125, 2)
    expect(codeOf(() => open('a.3', 1))).toBe('RATE_LIMITED')
    expect(codeOf(() => open('a.3', 0))).toBeUndefined()
    expect(codeOf(() => open('b.1', 250))).toBeUndefined()
  })

  it('A client budget ends clients with the largest contexts first, until the new client has room', () => {
    const { budget, ended, open } = createScene({ clients: 100, bytes: BYTES })
    open('a.1', 50, 2)
    open('a.1', 100)
    for (const organization of ['a.2', 'b.1', 'c.1', 'c.2']) open(organization, 20, 10)
    expect(budget.heldBytes).toBe(BYTES)
    open('d.1', 110)
    expect(ended).toEqual(['a.1 100', 'a.2 20'])
    expect(budget.heldBytes).toBe(BYTES - 10)
  })

  it('A client budget ends no client if the new client is refused', () => {
    const { budget, ended, open, codeOf } = createScene({ clients: 100, bytes: BYTES })
    for (const name of 'abcdefghij') open(`${name}.1`, 10, 10)
    expect(codeOf(() => open('k.1', 100))).toBe('RATE_LIMITED')
    expect([ended, budget.heldBytes]).toEqual([[], BYTES])
  })

  it('A changed context is charged by the difference, and the old charge stays if there is no room', () => {
    const { budget, open, codeOf } = createScene({ clients: 100, bytes: BYTES })
    const [client] = open('a.1', 100)
    if (client === undefined) throw new Error('no client')
    budget.change(client, 250)
    expect(budget.heldBytes).toBe(250)
    expect(codeOf(() => budget.change(client, 251))).toBe('RATE_LIMITED')
    expect(budget.heldBytes).toBe(250)
    budget.change(client, 10)
    expect(budget.heldBytes).toBe(10)
    budget.release(client)
    budget.release(client)
    budget.change(client, 200)
    expect(budget.heldBytes).toBe(0)
  })
})
