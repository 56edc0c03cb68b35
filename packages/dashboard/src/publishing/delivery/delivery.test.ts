import { describe, expect, it } from 'vitest'
import { deliveryOf, reportOf } from './delivery.ts'

const total = { ws: 130, poll: 4, behind: 2, applied: null }
const instance = { instanceId: 'a', seenAt: '', ws: 130, poll: 4, behind: 2 }
const convergence = {
  version: 42,
  publishedAt: null,
  serving: null,
  clients: { ws: 0, poll: 0, behind: 0 },
  total,
  byVersion: [],
  reached: null,
}

describe('deliveryOf', () => {
  it('The clients that are behind are those to which the version was not sent.', () => {
    const report = reportOf({ ...convergence, instances: [{ ...instance, version: 42 }] })
    expect(deliveryOf(42, report)).toEqual({ status: 'sending', sent: 132, all: 134 })
  })

  it('An instance with an older version has not begun, although none of its clients is behind.', () => {
    const instances = [{ ...instance, version: 41, behind: 0 }]
    const report = reportOf({ ...convergence, instances, total: { ...total, behind: 0 } })
    expect(deliveryOf(42, report)).toEqual({ status: 'waiting' })
  })

  it('A report about an earlier version says nothing about a later version.', () => {
    expect(deliveryOf(43, { version: 42, total, isBegun: true })).toEqual({ status: 'waiting' })
  })

  it('The delivery of a version ends when a newer version replaces it.', () => {
    const report = { version: 43, total, isBegun: true }
    expect(deliveryOf(42, report)).toEqual({ status: 'replaced', version: 43 })
  })

  it('Without live clients, the delivery is complete at once.', () => {
    const none = { ws: 0, poll: 0, behind: 0 }
    expect(deliveryOf(42, { version: 42, total: none, isBegun: false })).toEqual({
      status: 'done',
      all: 0,
    })
  })
})
