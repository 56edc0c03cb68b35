import { beforeEach, describe, expect, it } from 'vitest'
import { createFlagServer, type FlagServer } from '../../src/flag-server.ts'
import { call, evaluate } from '../call.ts'
import { allInMemory } from '../capabilities.ts'
import { flagChange, publish, type SeededEnvironment, seed, textFlag } from '../seed.ts'

let memory: ReturnType<typeof allInMemory>
let live: SeededEnvironment
let flags: FlagServer

const get = (path: string, server = flags) => call(server, path, { method: 'GET' })

beforeEach(async () => {
  memory = allInMemory()
  ;({ live } = await seed(memory.storage))
  await publish(memory, live.environmentId, flagChange(textFlag('banner', 'hello')))
  flags = createFlagServer(memory)
  return () => flags.close()
})

describe('A server without a management plane', () => {
  it('A server without a management plane evaluates over HTTP and in process.', async () => {
    expect((await evaluate(flags, live.sdkKey, {})).body).toEqual({ banner: 'hello' })
    const { environmentId } = live
    expect({ ...(await flags.allOrThrow({ environmentId }, {})) }).toEqual({ banner: 'hello' })
    expect(flags.as).toBeUndefined()
  })

  it('A server that is closed also closes the connections beside its store, once', async () => {
    const closed: string[] = []
    const close = async () => void closed.push('closed')
    const other = createFlagServer({ ...memory, close })
    await other.start()
    expect(closed).toEqual([])
    await other.close()
    await other.close()
    expect(closed).toEqual(['closed'])
  })

  it.each(['/projects', '/organizations', '/auth/login', '/openapi.json', '/nowhere'])(
    'A server without a management plane replies with 404 at %s, in the management envelope.',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status, body, headers } = await call(flags, path, { method })
        expect(status).toBe(404)
        expect(body).toEqual({
          statusCode: 404,
          message: expect.stringMatching(
            /^No route [A-Z]+ \/.*; set the option `management` to manage flags\.$/,
          ),
          data: null,
        })
        expect(headers.get('cache-control')).toBe('no-store')
      }
    },
  )

  it('A server without a management plane replies to health and readiness probes.', async () => {
    expect((await get('/health')).status).toBe(200)
    expect((await get('/ready')).status).toBe(200)
    const refused = await call(flags, '/ready', { method: 'POST' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it('A server without a management plane serves metrics only if they are public.', async () => {
    const { status, headers } = await get('/metrics')
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    const open = createFlagServer({ ...memory, metricsArePublic: true })
    const answer = await open.fetch(new Request('http://flags.test/metrics'))
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('ff_live_clients')
  })
})
