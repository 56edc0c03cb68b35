import type { AddressInfo } from 'node:net'
import type { EvaluationContext } from '@ff/core'
import express from 'express'
import { fastify } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { flagChange, textFlag } from '../../server/test/seed.ts'
import { requestFlags as expressFlags } from '../src/express.ts'
import { requestFlags as fastifyFlags } from '../src/fastify.ts'
import type { FlagClient } from '../src/index.ts'
import type { LocalClient } from '../src/local.ts'
import { createLocalScene, type LocalScene, untilCurrent } from './local/local-scene.ts'

type Values = Readonly<Record<string, unknown>>

/** A request that a handler receives, in both frameworks. */
interface FlaggedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly flags: FlagClient<Values>
}

interface Options {
  readonly client: LocalClient<Values>
  readonly contextOf: (request: FlaggedRequest) => EvaluationContext
}

type Handler = (request: FlaggedRequest) => unknown

/** Starts an application with one route. Returns its URL and a function that closes it. */
type Start = (options: Options, handler: Handler) => Promise<[string, () => unknown]>

const startExpress: Start = async (options, handler) => {
  const app = express()
  app.use(expressFlags(options) as unknown as express.RequestHandler)
  app.get('/', async (request, response) => {
    response.json(await handler(request as unknown as FlaggedRequest))
  })
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return [`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => server.close()]
}

const startFastify: Start = async (options, handler) => {
  const app = fastify()
  await app.register(fastifyFlags(options))
  app.get('/', async (request) => handler(request as unknown as FlaggedRequest))
  return [await app.listen({ host: '127.0.0.1', port: 0 }), () => app.close()]
}

const contextOf = ({ headers }: FlaggedRequest): EvaluationContext => ({
  kind: 'user',
  key: 'u',
  plan: String(headers['x-plan'] ?? ''),
})
const proRule = { conditions: [{ attribute: 'plan', operator: 'eq', value: 'pro' }] }

describe.each([
  ['Express', startExpress],
  ['Fastify', startFastify],
])('request.flags in %s', (_name, start) => {
  let scene: LocalScene
  let client: LocalClient<Values>
  const errors: unknown[] = []
  let close: () => unknown = () => {}

  beforeEach(async () => {
    scene = await createLocalScene()
    await scene.publish(flagChange(textFlag('banner', 'x', [proRule])))
    errors.length = 0
    const onError = (error: unknown) => void errors.push(error)
    client = scene.create({ onError }) as unknown as LocalClient<Values>
    await untilCurrent(scene, client as never)
  })

  afterEach(async () => {
    await close()
    await scene.close()
  })

  async function get(options: Partial<Options>, handler: Handler, plan = 'pro'): Promise<unknown> {
    const [url, end] = await start({ client, contextOf, ...options }, handler)
    close = end
    const response = await fetch(url, { headers: { 'x-plan': plan } })
    expect(response.status).toBe(200)
    return response.json()
  }

  it('A flag has the value for the context of the request', async () => {
    const handler: Handler = ({ flags }) => [flags.value('banner')]
    expect(await get({}, handler)).toEqual(['other'])
    await close()
    expect(await get({}, handler, 'free')).toEqual(['x'])
  })

  it('The values do not change during a request', async () => {
    const handler: Handler = async ({ flags }) => {
      const before = flags.value('banner')
      await scene.publish(flagChange(textFlag('banner', 'y')))
      await untilCurrent(scene, client as never)
      expect(client.value('banner', {})).toBe('y')
      return [before, flags.value('banner')]
    }
    expect(await get({}, handler)).toEqual(['other', 'other'])
  })

  it('The context is requested once, and only if a flag is read', async () => {
    let calls = 0
    const counted = (request: FlaggedRequest) => {
      calls += 1
      return contextOf(request)
    }
    await get({ contextOf: counted }, () => [])
    expect(calls).toBe(0)
    await close()
    await get({ contextOf: counted }, ({ flags }) => [flags.value('banner'), flags.value('banner')])
    expect(calls).toBe(1)
  })

  it('Flags have their fallbacks if the context fails or is none', async () => {
    const failure = new Error('no session')
    const failing = () => {
      throw failure
    }
    const handler: Handler = ({ flags }) => {
      const { value, errorCode } = flags.detail('banner', 'fallback')
      return [value, errorCode]
    }
    expect(await get({ contextOf: failing }, handler)).toEqual(['fallback', 'INVALID_CONTEXT'])
    expect(errors).toEqual([failure])
    const wrongs = [undefined, null, 'user', { kind: 7 }, []].map((wrong) => () => wrong)
    for (const wrong of [...wrongs, async () => ({}), () => Promise.reject(failure)]) {
      await close()
      const answer = await get({ contextOf: wrong as never }, handler)
      expect(answer).toEqual(['fallback', 'INVALID_CONTEXT'])
    }
    expect(errors).toHaveLength(9)
  })

  it('A snapshot for the page has the values of the request', async () => {
    const handler: Handler = async ({ flags }) => {
      const before = flags.value('banner')
      await scene.publish(flagChange(textFlag('banner', 'y')))
      await untilCurrent(scene, client as never)
      return [before, flags.snapshot().flags['banner']]
    }
    expect(await get({}, handler)).toEqual(['other', 'other'])
  })

  it('Flags keep their last values after the client was closed', async () => {
    await client.close()
    expect(await get({}, ({ flags }) => [flags.value('banner')])).toEqual(['other'])
  })
})

it('Options of the wrong type are refused when the application starts', () => {
  for (const create of [expressFlags, fastifyFlags]) {
    expect(() => create({ client: {}, contextOf } as never)).toThrow('`client`')
    expect(() => create({ client: { for: () => {} } } as never)).toThrow('`contextOf`')
  }
})
