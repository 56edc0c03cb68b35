import type { ProjectView } from '@ff/protocol/management'
import { memory } from '@ff/storage'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import { createManagedServer, type ManagedServer } from '../world/managed-server.ts'

const BASE = 'http://flags.test/flags'

describe('Management in a complete server', () => {
  let server: ManagedServer
  let created: ProjectView
  let token: string
  let sdkKey: string

  beforeEach(async () => {
    server = createManagedServer({ ...memory(), clock: new FakeClock(), basePath: '/flags' })
    await server.start()
    const actor = { id: 'test', email: '', name: 'Test', role: 'platform', orgId: null } as const
    const management = server.as(actor)
    const { id: orgId } = await management.createOrganization({ body: { name: 'Acme' } })
    created = await management.createProject({ params: { orgId }, body: { key: 'shop' } })
    const body = { name: 'editor', role: 'editor' as const }
    token = (await management.createAccessToken({ params: { orgId }, body })).token
    const params = {
      projectId: created.id,
      environmentId: created.environments[0]?.id ?? '',
    }
    sdkKey = (await management.createSdkKey({ params, body: { name: 'k', kind: 'client' } })).key
  })

  afterEach(() => server.close())

  const send = (
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ) =>
    server.fetch(
      new Request(BASE + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...headers,
        },
        ...(body !== undefined && { body }),
      }),
    )
  const flags = () => `/projects/${created.id}/flags`

  it('A new flag is served immediately', async () => {
    const made = await send('POST', flags(), '{"key":"checkout","type":"boolean"}')
    expect(made.status).toBe(201)
    expect(made.headers.get('etag')).toBe('"1"')
    const body = '{"context":{"kind":"user","key":"u"}}'
    const evaluated = await send('POST', '/evaluator/evaluate', body, { 'x-api-key': sdkKey })
    expect(await evaluated.json()).toEqual({ checkout: false })
  })

  it('A body of one megabyte is refused and changes nothing', async () => {
    const name = 'n'.repeat(1024 * 1024)
    const answer = await send('POST', flags(), JSON.stringify({ key: 'x', type: 'boolean', name }))
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ statusCode: 413, data: null })
    const list = await (await send('GET', flags())).json()
    expect(list).toMatchObject({ data: { meta: { total: 0 } } })
  })

  it('An SDK key cannot manage flags, and a bearer token cannot evaluate them', async () => {
    const byKey = await send('GET', flags(), undefined, { authorization: `Bearer ${sdkKey}` })
    expect(byKey.status).toBe(401)
    const body = '{"context":{}}'
    const byToken = await send('POST', '/evaluator/evaluate', body, { 'x-api-key': token })
    expect(byToken.status).toBe(401)
  })
})
