import { endpoints } from '@ff/protocol/management'
import { SDK_PATHS } from '@ff/protocol/sdk'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/openapi/openapi.ts'
import { createManagedServer } from '../world/managed-server.ts'
import { expectToFitOpenApi, expectValid } from '../world/openapi.ts'

// biome-ignore lint/suspicious/noExplicitAny: the tests read arbitrary parts of the document
type Json = any

const METHODS = new Set(['get', 'post', 'put', 'delete'])
const document: Json = openApiDocument({ basePath: '/flags' })
const operations: readonly [name: string, pointer: string[], operation: Json][] = Object.entries(
  document.paths as Json,
).flatMap(([path, methods]) =>
  Object.entries(methods as Json).map(([method, operation]: [string, Json]) => {
    return [operation.operationId, ['paths', path, method], operation] as const
  }),
) as never

const answer = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  createManagedServer({ basePath: '/flags' }).fetch(
    new Request(`http://flags.test/flags${path}`, { method, headers }),
  )

describe('the OpenAPI document', () => {
  it('The OpenAPI document is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const result = await validator.validate(structuredClone(document))
    expect(result).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  it('The OpenAPI document contains every endpoint of the table and every SDK path once', () => {
    const names = operations.map(([name]) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const [name, { method, path }] of Object.entries(endpoints)) {
      expect(document.paths[path][method.toLowerCase()].operationId).toBe(name)
    }
    for (const path of [SDK_PATHS.evaluate, SDK_PATHS.poll, SDK_PATHS.events]) {
      expect(document.paths[path].post.security).toEqual([{ sdkKey: [] }])
    }
    const others =
      Object.keys(SDK_PATHS).length - 1 + ['health', 'ready', 'metrics', 'openapi'].length
    expect(names.length).toBe(Object.keys(endpoints).length + others)
  })

  it.each(operations)(
    '%s has a summary and valid examples of its request and response',
    (...row) => {
      const [name, pointer, operation] = row
      expect(METHODS).toContain(pointer.at(-1))
      expect(operation.summary).toMatch(/^[A-Z][\w’ -]+$/)
      expect(operation.tags).toHaveLength(1)
      if (operation.requestBody !== undefined) {
        const { schema, example } = operation.requestBody.content['application/json']
        expect(schema).not.toEqual({})
        const at = [...pointer, 'requestBody', 'content', 'application/json', 'schema']
        expectValid(document, at, example, `${name} body`)
      }
      const [status = ''] = Object.keys(operation.responses)
      const [type, media]: [string, Json] = Object.entries(
        operation.responses[status].content,
      )[0] as never
      if (name === 'getOpenApi') return
      expect(media.example, `${name} has a golden example`).toBeDefined()
      const at = [...pointer, 'responses', status, 'content', type, 'schema']
      expectValid(document, at, media.example, `${name} response`)
    },
  )

  it.each(operations)('%s describes its path parameters and no others', (_name, pointer, op) => {
    const inPath = [...(pointer[1] ?? '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const described = (op.parameters ?? []).filter((each: Json) => each.in === 'path')
    expect(described.map((each: Json) => each.name)).toEqual(inPath)
    for (const each of described) {
      expect(each.required).toBe(true)
      expect(each.example).toBeDefined()
    }
  })

  it('The schemas of query parameters contain types, bounds, formats and defaults', () => {
    const ofQuery = (name: string) => {
      const { path, method } = endpoints[name as 'listFlags']
      const { parameters } = document.paths[path][method.toLowerCase()]
      const query = parameters.filter((each: Json) => each.in === 'query')
      return Object.fromEntries(query.map((each: Json) => [each.name, each.schema]))
    }
    expect(ofQuery('listFlags')).toMatchObject({
      archived: { type: 'boolean' },
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
      page: { type: 'integer', minimum: 1, default: 1 },
    })
    expect(ofQuery('listAuditLog')).toMatchObject({
      from_date: { type: 'string', format: 'date-time' },
      source: { enum: ['redis', 'database', 'both'], default: 'both' },
      sort: { type: 'string', default: 'created_at:desc' },
    })
  })

  it('Every reference has a target, and every component is referenced', () => {
    const text = JSON.stringify(document)
    const refs = new Set(
      [...text.matchAll(/"#\/components\/([\w-]+)\/([\w.-]+)"/g)].map(([, ...at]) =>
        at.slice(0, 2).join('/'),
      ),
    )
    for (const ref of refs) {
      const [group = '', name = ''] = ref.split('/')
      expect(document.components[group]?.[name], ref).toBeDefined()
    }
    for (const name of Object.keys(document.components.schemas)) {
      expect(refs, name).toContain(`schemas/${name}`)
    }
    expect(text).not.toMatch(/~\d|__shared|"\$defs"/)
  })

  it('expectToFitOpenApi throws if a response does not match the document', () => {
    const health = { method: 'GET', path: '/health', status: 200 }
    const body = { statusCode: 200, message: 'OK', data: { status: 'ok' } }
    expectToFitOpenApi(document, { ...health, body })
    const broken = [
      { ...health, body: { ...body, data: null } },
      { ...health, status: 201, body },
      { ...health, path: '/elsewhere', body },
    ]
    for (const each of broken) expect(() => expectToFitOpenApi(document, each)).toThrow(each.path)
  })
})

describe('GET /openapi.json', () => {
  it('GET /openapi.json requires no token and responds with 304 to a matching entity tag', async () => {
    const response = await answer('/openapi.json')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(document)))
    const tag = response.headers.get('etag') ?? ''
    const again = await answer('/openapi.json', { 'if-none-match': tag })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect((await answer('/openapi.json', { 'if-none-match': '"other"' })).status).toBe(200)
  })

  it('GET and HEAD are the only methods of /openapi.json', async () => {
    const response = await answer('/openapi.json', {}, 'POST')
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})
