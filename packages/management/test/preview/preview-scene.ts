import type { EvaluationContext } from '@ff/core'
import { expect } from 'vitest'
import { type Called, call, evaluate } from '../../../server/test/call.ts'
import type { ManagedOptions } from '../world/managed-server.ts'
import { type MetricsShop, openMetricsShop } from '../world/metrics-shop.ts'
import type { Json } from '../world/world.ts'

/** A response of the management API. */
export interface Reply {
  readonly status: number
  readonly headers: Called['headers']
  readonly message: string
  readonly data: Json
}

interface Sent {
  readonly body?: Json
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A running server with the flag `theme` (`dark`, `light`) and the requests of the tests. */
export interface PreviewScene extends MetricsShop {
  /** The path of the environment `live`. */
  readonly live: string
  /** The path of the flag `theme` in `live`. */
  readonly theme: string
  /** Sends a management request; with the role `editor` by default. */
  send(method: string, path: string, request?: Sent): Promise<Reply>
  /** Sends a request and returns `data`. Throws if the request is refused. */
  done(method: string, path: string, body?: Json): Promise<Json>
  preview(changes: readonly Json[], more?: Json, token?: string): Promise<Reply>
  /** Previews changes and returns the result. Throws if the request is refused. */
  impact(changes: readonly Json[], more?: Json): Promise<Json>
  /** Evaluates for contexts, then writes the observed contexts. */
  see(...contexts: readonly EvaluationContext[]): Promise<void>
}

/** Opens a scene in which all contexts are observed with all their attributes that rules read. */
export async function openPreviewScene(options: ManagedOptions = {}): Promise<PreviewScene> {
  const shop = await openMetricsShop(options)
  const { projectId, live: liveId, flag, tokens } = shop.mine
  const live = `/projects/${projectId}/envs/${liveId}`
  const send: PreviewScene['send'] = async (method, path, { body, ...sent } = {}) => {
    const headers = { authorization: `Bearer ${sent.token ?? tokens.editor}`, ...sent.headers }
    const called = await call(shop.flags, path, { method, headers, body })
    const { message = '', data = null } = (called.body ?? {}) as Json
    return { status: called.status, headers: called.headers, message, data }
  }
  const done: PreviewScene['done'] = async (method, path, body) => {
    const { status, message, data } = await send(method, path, { body })
    expect([message, status < 300]).toEqual(['OK', true])
    return data
  }
  const preview: PreviewScene['preview'] = (changes, more = {}, token = tokens.viewer) =>
    send('POST', `${live}/preview`, { body: { changes, ...more }, token })
  return {
    ...shop,
    ...{ live, theme: `${live}/flags/${flag.id}`, send, done, preview },
    async impact(changes, more) {
      const { status, message, data } = await preview(changes, more)
      expect([message, status]).toEqual(['OK', 200])
      return data
    },
    async see(...contexts) {
      for (const context of contexts) {
        const { status } = await evaluate(shop.flags, shop.mine.serverKey, context)
        expect(status).toBe(200)
      }
      await shop.clock.advance(2000)
    },
  }
}

/** Returns a context of a user. */
export const user = (key: string, more: object = {}) =>
  ({ kind: 'user', key, ...more }) as EvaluationContext
