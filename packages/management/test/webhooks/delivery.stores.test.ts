import { isFlagError } from '@ff/core'
import { auditEventCodec } from '@ff/protocol/management'
import type { Storage } from '@ff/storage'
import { Webhook as Verifier } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { stores } from '../world/stores.ts'
import { useFakeTimeouts } from './fake-timeouts.ts'
import { eventually, HookedServer } from './hooked-server.ts'
import { type Received, Receiver, status } from './receiver.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

function genuine(secret: string, { body, headers }: Received): unknown {
  return new Verifier(secret).verify(body, headers as Record<string, string>)
}

describe.each(stores)('webhooks, with %s', (_name, open) => {
  let storage: Storage
  let clean: () => void
  let server: HookedServer
  let receiver: Receiver
  const others: HookedServer[] = []

  beforeEach(async () => {
    const opened = open()
    storage = opened.storage
    clean = opened.clean
    receiver = await Receiver.start()
    server = await new HookedServer(storage).start()
    await server.addOrganization()
  })

  afterEach(async () => {
    for (const each of [server, ...others.splice(0)]) await each.close()
    await receiver.close()
    clean()
  })

  describe('changes', () => {
    it('A change is sent immediately as a signed message with the audit event and its comment', async () => {
      const { secret, id: webhookId } = await server.addWebhook(`${receiver.url}/hook?a=b`)
      await server.change('A shop — 🛒')
      const [delivery] = await server.settled()
      expect(receiver.received).toHaveLength(1)
      const [received] = receiver.received as [Received]
      const { data: events } = await storage.list('auditEvent', {
        where: { eventType: 'project.created' },
      })
      const event = JSON.parse(JSON.stringify(z.encode(auditEventCodec, events[0] as never)))
      expect(event.comment).toBe('A shop — 🛒')
      expect(genuine(secret, received)).toEqual({
        type: 'project.created',
        timestamp: event.created_at,
        data: event,
      })
      expect(received).toMatchObject({ method: 'POST', path: '/hook?a=b' })
      expect(received.headers['webhook-id']).toBe(delivery?.id)
      expect(delivery).toMatchObject({
        orgId: server.orgId,
        webhookId,
        eventId: event.id,
        eventType: 'project.created',
        status: 'delivered',
        attempts: 1,
        nextAttemptAt: null,
        lastStatus: 204,
        lastError: null,
      })
      expect(delivery?.durationMs).toBeGreaterThanOrEqual(0)
    })

    it('The signature is invalid for another secret, body, id or time', async () => {
      const { secret } = await server.addWebhook(receiver.url)
      const other = await server.addWebhook(receiver.url, ['flag.*'])
      await server.change()
      await server.settled()
      const [received] = receiver.received as [Received]
      expect(() => genuine(secret, received)).not.toThrow()
      expect(() => genuine(other.secret, received)).toThrow()
      expect(() => genuine(secret, { ...received, body: `${received.body} ` })).toThrow()
      for (const header of ['webhook-id', 'webhook-timestamp']) {
        const headers = { ...received.headers, [header]: `${received.headers[header]}1` }
        expect(() => genuine(secret, { ...received, headers })).toThrow()
      }
    })

    it('A change is sent only to subscribed and active webhooks of its organization', async () => {
      const all = await server.addWebhook(`${receiver.url}/all`, ['*'])
      await server.addWebhook(`${receiver.url}/exact`, ['flag.updated', 'project.created'])
      await server.addWebhook(`${receiver.url}/others`, ['project.updated', 'flag.*', 'webhook.*'])
      const off = await server.addWebhook(`${receiver.url}/off`, ['project.*'])
      await server.settled()
      const params = { orgId: server.orgId, webhookId: off.id }
      await server.management.updateWebhook({ params, body: { isActive: false } })
      await server.settled()
      receiver.received.length = 0
      await server.change()
      await server.addOrganization('Another')
      await server.change()
      await server.settled()
      expect(receiver.received.map(({ path }) => path).sort()).toEqual(['/all', '/exact'])
      const sent = await server.deliveries({ webhookId: all.id })
      // A webhook for all events receives its own creation first.
      expect(sent[0]?.eventType).toBe('webhook.created')
    })

    it('A change that is rolled back is not sent', async () => {
      await server.addWebhook(receiver.url)
      const alongside = async () => {
        throw new Error('rolled back')
      }
      const rolledBack = server.changeIn({ alongside })
      await expect(rolledBack).rejects.toThrow('rolled back')
      expect(await server.deliveries()).toEqual([])
      await server.after(MINUTE)
      expect(receiver.received).toEqual([])
    })

    it('A refused change is not sent', async () => {
      await server.addWebhook(receiver.url, ['*'])
      const before = (await server.settled()).length
      const params = { orgId: server.orgId }
      const refused = server.management.createProject({ params, body: { key: 'two words' } })
      await expect(refused).rejects.toSatisfy(isFlagError)
      expect(await server.deliveries()).toHaveLength(before)
    })
  })

  describe('failing receivers', () => {
    it('A failed delivery is retried at growing intervals with the same message', async () => {
      const { secret, id } = await server.addWebhook(receiver.url)
      receiver.answer = status(500)
      await server.change()
      const waits: number[] = []
      let [delivery] = await server.settled()
      for (let attempt = 1; attempt < 8; attempt += 1) {
        expect(delivery).toMatchObject({ status: 'pending', attempts: attempt, lastStatus: 500 })
        waits.push(Date.parse(delivery?.nextAttemptAt ?? '') - server.clock.now())
        if (attempt === 1) expect((await server.webhook(id)).failingSince).not.toBe(null)
        const all = await server.retry()
        delivery = all[0]
      }
      const expected = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY]
      for (const [index, wait] of expected.entries()) {
        expect(waits[index]).toBeGreaterThanOrEqual(wait)
        expect(waits[index]).toBeLessThanOrEqual(wait * 1.25)
      }
      const [failed] = await server.deliveries()
      expect(failed).toMatchObject({ status: 'failed', attempts: 8, nextAttemptAt: null })
      expect(failed).toMatchObject({ lastStatus: 500, lastError: 'status' })
      expect(receiver.received).toHaveLength(8)
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
      const times = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']))
      expect(times).toEqual([...times].sort((a, b) => a - b))
      expect(new Set(times).size).toBe(8)
      expect(() => genuine(secret, receiver.received[0] as Received)).not.toThrow()
      await server.after(DAY)
      expect(receiver.received).toHaveLength(8)
    })

    it('A receiver that recovers receives all missed messages', async () => {
      const { id } = await server.addWebhook(receiver.url)
      receiver.answer = (response) => response.destroy()
      for (let change = 0; change < 4; change += 1) await server.change()
      for (const delivery of await server.settled()) {
        expect(delivery).toMatchObject({ lastStatus: null, lastError: 'connection' })
      }
      receiver.answer = status(307, { location: 'http://127.0.0.1:1/' })
      for (const delivery of await server.retry()) {
        expect(delivery).toMatchObject({ lastStatus: 307, lastError: 'redirect' })
      }
      receiver.answer = status(200)
      for (const delivery of await server.retry()) {
        expect(delivery).toMatchObject({ status: 'delivered', attempts: 3, lastError: null })
      }
      expect((await server.webhook(id)).failingSince).toBe(null)
    })

    it('A webhook that fails for five days is deactivated and audited', async () => {
      const { id } = await server.addWebhook(receiver.url)
      receiver.answer = status(503)
      await server.change()
      await server.settled()
      server.clock.set(server.clock.now() + 5 * DAY - 1)
      await server.change()
      await server.settled()
      expect((await server.webhook(id)).isActive).toBe(true)
      server.clock.set(server.clock.now() + 1)
      await server.change()
      await eventually(
        () => server.webhook(id),
        ({ isActive }) => !isActive,
      )
      const { data } = await storage.list('auditEvent', { where: { eventType: 'webhook.updated' } })
      expect(data).toHaveLength(1)
      expect(data[0]).toMatchObject({ actorId: 'webhooks', orgId: server.orgId })
      expect(data[0]?.payload).toMatchObject({ before: { active: true }, after: { active: false } })
      const tried = receiver.received.length
      const before = await server.settled()
      await server.change()
      await server.after(DAY)
      const all = await server.settled()
      expect(receiver.received).toHaveLength(tried)
      expect(all).toHaveLength(before.length)
      for (const each of all)
        expect(each).toMatchObject({ status: 'failed', lastError: 'inactive' })
    })

    it('Reactivating a webhook resets its health', async () => {
      const { id: webhookId } = await server.addWebhook(receiver.url)
      await storage.update('webhook', webhookId, {
        isActive: false,
        failingSince: new Date(server.clock.now() - 9 * DAY).toISOString(),
      })
      const params = { orgId: server.orgId, webhookId }
      await server.management.updateWebhook({ params, body: { isActive: true } })
      receiver.answer = status(500)
      await server.change()
      await server.settled()
      const { isActive, failingSince } = await server.webhook(webhookId)
      expect([isActive, failingSince]).toEqual([true, new Date(server.clock.now()).toISOString()])
    })

    it('A slow receiver does not delay other webhooks', async () => {
      // No attempt reaches its time limit, so the attempts to the slow receiver do not end.
      useFakeTimeouts()
      const slow = await Receiver.start()
      slow.answer = () => undefined
      await server.addWebhook(slow.url, ['project.*'])
      for (let change = 0; change < 60; change += 1) await server.change()
      await eventually(
        async () => slow.received.length,
        (count) => count > 0,
      )
      await server.addOrganization('Another')
      await server.addWebhook(receiver.url)
      await server.change()
      await eventually(
        async () => receiver.received.length,
        (count) => count === 1,
      )
      // The limit of concurrent messages to one webhook.
      expect(slow.received).toHaveLength(4)
      await slow.close()
    })
  })

  describe('deliveries in progress', () => {
    it('A message is sent once when several instances run', async () => {
      const { clock } = server
      for (let more = 0; more < 2; more += 1) {
        others.push(await new HookedServer(storage, { clock }).start())
      }
      await server.addWebhook(receiver.url)
      for (let change = 0; change < 30; change += 1) {
        await server.change()
        if (change % 10 === 0) await clock.advance(2 * SECOND)
      }
      await eventually(
        async () => {
          // A claim must not end during its attempt, however long the attempt takes.
          const pending = await server.deliveries({ status: 'pending' })
          if (pending.every(({ attempts }) => attempts === 0)) await clock.advance(2 * SECOND)
          return server.deliveries({ status: 'delivered' })
        },
        (all) => all.length === 30,
      )
      const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
      expect(ids).toHaveLength(30)
      expect(new Set(ids).size).toBe(30)
    })

    it('A delivery is sent by another instance within seconds', async () => {
      await server.addWebhook(receiver.url)
      await server.changeAndDie()
      expect(receiver.received).toEqual([])
      await server.clock.advance(2 * SECOND)
      expect(await server.settled()).toMatchObject([{ status: 'delivered', attempts: 1 }])
    })

    it('A delivery is retried with the same id if the process that claimed it has ended', async () => {
      await server.addWebhook(receiver.url)
      await server.changeAndDie()
      // Simulates a process that is killed after its claim.
      const never = () => new Promise<never>(() => undefined)
      const webhookSender = { refusalOf: () => undefined, send: never }
      await server.dispatcher(webhookSender).run()
      const [claimed] = await server.deliveries()
      expect(claimed).toMatchObject({ status: 'pending', attempts: 1, lastError: null })
      await server.after(30 * SECOND - 1)
      expect(await server.deliveries()).toEqual([claimed])
      await server.after(1)
      expect(await server.settled()).toMatchObject([{ status: 'delivered', attempts: 2 }])
      expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([claimed?.id])
    })

    it('A late result is ignored after another instance has claimed the delivery', async () => {
      await server.addWebhook(receiver.url)
      await server.changeAndDie()
      let finish: () => void = () => undefined
      const late = new Promise<void>((resolve) => {
        finish = resolve
      })
      const send = async () => {
        await late
        return { status: 500, fault: 'status' } as const
      }
      const webhookSender = { refusalOf: () => undefined, send }
      const suspended = server.dispatcher(webhookSender)
      await suspended.run()
      await server.after(30 * SECOND)
      await server.settled()
      finish()
      await suspended.stop()
      expect(await server.deliveries()).toMatchObject([{ status: 'delivered', attempts: 2 }])
    })

    it('Stopping waits for attempts in progress and starts no further ones', async () => {
      await server.addWebhook(receiver.url)
      let finish: () => void = () => undefined
      receiver.answer = (response) => {
        finish = () => void response.writeHead(204).end()
      }
      await server.changeAndDie()
      const { instance } = server
      await instance.run()
      await eventually(
        async () => receiver.received.length,
        (count) => count === 1,
      )
      let hasStopped = false
      const stopping = instance.stop().then(() => {
        hasStopped = true
      })
      await server.changeAndDie()
      await instance.run()
      expect(hasStopped).toBe(false)
      finish()
      await stopping
      expect(await server.deliveries()).toMatchObject([
        { status: 'delivered' },
        { status: 'pending', attempts: 0 },
      ])
    })

    it('Pending deliveries fail when their webhook is deleted', async () => {
      const { id: webhookId } = await server.addWebhook(receiver.url)
      receiver.answer = status(500)
      await server.change()
      await server.settled()
      await server.management.deleteWebhook({ params: { orgId: server.orgId, webhookId } })
      expect(await server.retry()).toMatchObject([{ status: 'failed', lastError: 'inactive' }])
      expect(receiver.received).toHaveLength(1)
    })
  })

  it('A secret that cannot be decrypted does not count as a failure of the receiver', async () => {
    const { id } = await server.addWebhook(receiver.url)
    const { clock } = server
    const other = new HookedServer(storage, { clock, secretKey: '00'.repeat(32) })
    others.push(await other.start())
    await server.changeAndDie()
    await other.instance.run()
    expect(await server.settled()).toMatchObject([
      { status: 'pending', attempts: 1, lastStatus: null, lastError: 'internal' },
    ])
    expect((await server.webhook(id)).failingSince).toBe(null)
    expect(other.errors.map(([message]) => message)).toEqual([
      'A webhook message could not be created',
    ])
    expect(JSON.stringify(other.errors)).not.toContain('whsec_')
  })

  it('Deliveries are kept for seven days', async () => {
    await server.addWebhook(receiver.url)
    await server.change()
    await server.settled()
    const { clock } = server
    clock.set(clock.now() + 7 * DAY - HOUR)
    await clock.advance(HOUR / 2)
    await server.change()
    expect(await server.settled()).toHaveLength(2)
    clock.set(clock.now() + HOUR)
    await deliveriesBecome(1)
    clock.set(clock.now() + 7 * DAY)
    await deliveriesBecome(0)

    /** The clock advances in steps, because an instance first has to hold the lease of the jobs. */
    function deliveriesBecome(count: number): Promise<unknown> {
      return eventually(
        async () => {
          await clock.advance(SECOND)
          return server.deliveries()
        },
        (all) => all.length === count,
      )
    }
  })
})
