import { isFlagError } from '@ff/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../../../scripts/test-selection.ts'
import type { EnvironmentScope } from '../access/scope.ts'
import { ClientBudget, type Reservation } from './client-budget.ts'

/** Returns a scope. The key `a.1` belongs to the organization `a`. */
function scopeOf(keyId: string): EnvironmentScope {
  const organizationId = keyId.slice(0, keyId.indexOf('.'))
  return { keyId, organizationId, environmentId: 'live', kind: 'client', rateLimit: 1 }
}

const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('open' as const),
      key: fc.constantFrom('a.1', 'a.2', 'b.1', 'b.2', 'c.1', 'd.1'),
      bytes: fc.nat(120),
    }),
  },
  fc.record({
    type: fc.constantFrom('move' as const, 'close' as const),
    place: fc.nat(30),
    bytes: fc.nat(120),
  }),
)

it('The charges of a client budget stay within its limits, and return to zero when all clients leave', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 120 }), (actions) => {
      const limits = { clients: 12, bytes: 400 }
      const budget = new ClientBudget(limits)
      const held = new Map<Reservation, { readonly keyId: string; bytes: number }>()
      for (const one of actions) {
        try {
          if (one.type === 'open') {
            const client = { end: () => void held.delete(reservation) }
            const reservation: Reservation = budget.reserve(scopeOf(one.key), one.bytes, client)
            held.set(reservation, { keyId: one.key, bytes: one.bytes })
          } else {
            const [reservation, owner] = [...held][one.place] ?? []
            if (reservation === undefined || owner === undefined) continue
            if (one.type === 'close') {
              held.delete(reservation)
              budget.release(reservation)
            } else {
              budget.change(reservation, one.bytes)
              owner.bytes = one.bytes
            }
          }
        } catch (error) {
          if (!isFlagError(error) || error.code !== 'RATE_LIMITED') throw error
        }
        expectToAddUp(budget, [...held.values()], limits)
      }
      for (const reservation of held.keys()) budget.release(reservation)
      expect(budget.heldBytes).toBe(0)
      // Every place is free again.
      for (let count = 0; count < limits.clients; count += 1) {
        budget.reserve(scopeOf('e.1'), 0, { end: () => undefined })
      }
    }),
    { numRuns: runs(500) },
  )
})

function expectToAddUp(
  budget: ClientBudget,
  held: readonly { readonly keyId: string; readonly bytes: number }[],
  limits: { readonly clients: number; readonly bytes: number },
): void {
  const sumOf = (prefix: string) =>
    held.reduce((sum, { keyId, bytes }) => sum + (keyId.startsWith(prefix) ? bytes : 0), 0)
  expect(budget.heldBytes).toBe(sumOf(''))
  expect(held.length).toBeLessThanOrEqual(limits.clients)
  expect(sumOf('')).toBeLessThanOrEqual(limits.bytes)
  for (const key of ['a.1', 'a.2', 'b.1', 'b.2', 'c.1', 'd.1']) {
    expect(sumOf(key)).toBeLessThanOrEqual(limits.bytes / 4)
    expect(sumOf(key.slice(0, 2))).toBeLessThanOrEqual(limits.bytes / 2)
  }
}
