import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Json, World } from '../world/world.ts'

const PAGE = new URL('../../../../docs/managing-flags.md', import.meta.url)

/** Returns the request and the response in the section about summaries. */
function documented(): { readonly address: string; readonly summary: Json } {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split('## Summaries of flags')
  const [, address = ''] = /```\nGET (\S+)\n```/.exec(section) ?? []
  const [, json = ''] = /```json\n(.*?)```/s.exec(section) ?? []
  return { address, summary: JSON.parse(json) }
}

/** Replaces each distinct id by a number, in the order of their first occurrence. */
function withNumberedIds(value: Json): string {
  const numbers = new Map<string, string>()
  return JSON.stringify(value).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
    numbers.set(id, numbers.get(id) ?? `id ${numbers.size}`)
    return numbers.get(id) ?? ''
  })
}

it('The documented request returns the documented summary', async () => {
  const world = await World.create()
  const tenant = await world.addTenant('Acme')
  const orgId = tenant.orgId
  const ada = world.as({ id: 'ada', email: '', name: 'Ada', role: 'editor', orgId })
  const params = { projectId: tenant.project.id }
  const tags = ['checkout']
  const body = { key: 'new-checkout', name: 'One-page checkout', type: 'boolean', tags } as const
  const flag = await ada.createFlag({ params, body })
  await ada.createFlag({ params, body: { key: 'other', type: 'boolean' } })
  const place = { ...params, environmentId: tenant.live.id, flagId: flag.id }
  const served = { strategy: 'percentage', variationId: 'true', percentage: 25 } as const
  const rollout = await ada.createRollout({ params: place, body: { name: 'A quarter', ...served } })
  const rule = { name: 'Everybody', conditions: [], rolloutId: rollout.id }
  await ada.createTargetingRule({ params: place, body: rule })
  const { address, summary } = documented()
  expect(address).toMatch(/^\/projects\/shop\/flag-summaries\?/)
  const { data } = await world.call('GET', address, { token: tenant.tokens.viewer })
  expect(data.meta).toEqual({ total: 1, page: 1, pageCount: 1 })
  expect(JSON.parse(withNumberedIds(data.data[0]))).toEqual(JSON.parse(withNumberedIds(summary)))
})
