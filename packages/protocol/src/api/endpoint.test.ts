import { expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import type { endpoints } from '../endpoint-table.ts'
import { deleting, noBody, noQuery, reading } from './endpoint.ts'
import { pathParams } from './paths.ts'

const ID = '0b5c2f6e-8d0a-4f5b-9d53-3f3a5d4f9c11'

it('An endpoint has the fields of its row and the defaults of its kind', () => {
  const response = z.string()
  const endpoint = reading('/flags', { permission: 'audit.read', lines: true, response })
  const { params: _, ...rest } = endpoint
  expect(rest).toEqual({
    method: 'GET',
    path: '/flags',
    permission: 'audit.read',
    query: noQuery,
    body: noBody,
    status: 200,
    lines: true,
    response,
  })
  expectTypeOf(endpoint.permission).toEqualTypeOf<'audit.read'>()
  expectTypeOf(endpoint.lines).toEqualTypeOf<true>()
  expectTypeOf(deleting('/flags').response).toEqualTypeOf<z.ZodNull>()
})

it('Only resources of a project, and the project, can be named by a key in a path', () => {
  const accepts = (path: string, param: string) =>
    z.safeDecode(pathParams(path), { projectId: ID, [param]: 'a-key' } as never).success
  for (const param of ['projectId', 'envId', 'flagId', 'segmentId'])
    expect([param, accepts(`/projects/{projectId}/x/{${param}}`, param)]).toEqual([param, true])
  for (const param of ['ruleId', 'rolloutId', 'variationId', 'keyId', 'changeId'])
    expect([param, accepts(`/projects/{projectId}/x/{${param}}`, param)]).toEqual([param, false])
  const metrics = pathParams('/flags/{flagId}/metrics')
  expect(z.safeDecode(metrics, { flagId: 'a-key' } as never).success).toBe(false)
  expect(z.decode(metrics, { flagId: ID.toUpperCase() } as never)).toEqual({ flagId: ID })
})

it('The row of an endpoint cannot contain an unknown field', () => {
  // @ts-expect-error The field is `notes`.
  reading('/flags', { response: z.null(), note: 'x' })
})

it('The path parameters and their types are derived from the path', () => {
  const params = pathParams('/projects/{projectId}/envs/{envId}/versions/{version}')
  const decoded = z.decode(params, {
    projectId: 'Shop',
    envId: ID,
    version: '7',
  } as never)
  expect(decoded).toEqual({ projectId: 'Shop', environmentId: ID, version: 7 })
  const accepts = (changes: object) =>
    z.safeDecode(params, { projectId: ID, envId: 'x', version: '1', ...changes } as never).success
  expect(accepts({})).toBe(true)
  expect(accepts({ version: '0' })).toBe(false)
  expect(accepts({ envId: '.x' })).toBe(false)
  expectTypeOf<z.output<typeof endpoints.getVersion.params>>().toEqualTypeOf<{
    projectId: string
    environmentId: string
    version: number
  }>()
  expectTypeOf<z.output<typeof endpoints.listPlans.params>>().toEqualTypeOf<Record<never, never>>()
})
