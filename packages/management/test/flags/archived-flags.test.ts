import { type Endpoint, endpoints } from '@ff/protocol/management'
import { describe, expect, it } from 'vitest'
import { createScene, NAMES } from '../world/scene.ts'

/** The changes that take an archived flag back, or remove it or a part of it. */
const PERMITTED: readonly string[] = ['updateFlag', 'deleteFlag', 'deleteScheduledChange']

/** The endpoints that change a flag or a part of it. */
const CHANGES = NAMES.filter((name) => {
  const { method, path }: Endpoint = endpoints[name]
  return method !== 'GET' && path.includes('{flagId}')
})

async function archivedScene() {
  const scene = await createScene()
  const token = scene.mine.tokens.owner
  const { projectId, flagId } = scene.params
  const flag = `/projects/${projectId}/flags/${flagId}`
  const send = (method: string, body?: object) => scene.world.call(method, flag, { token, body })
  expect((await send('PUT', { archived: true })).status).toBe(200)
  return { scene, token, send }
}

describe('an archived flag', () => {
  it.each(CHANGES.filter((name) => !PERMITTED.includes(name)))(
    '%s refuses to change it, and changes nothing',
    async (name) => {
      const { scene, token } = await archivedScene()
      const { method, path }: Endpoint = endpoints[name]
      const address = path.replace(/\{(\w+)\}/g, (_, param) => scene.params[param] ?? '')
      const before = (await scene.world.storage.list('auditEvent', {})).total
      const answer = await scene.world.call(method, address, {
        token,
        body: scene.bodies[name],
        headers: scene.headers[name] ?? {},
      })
      expect(answer.status).toBe(400)
      const message =
        'is the flag "secret-flag", which is archived. Set its field "archived" to false first.'
      expect(answer.data.issues).toEqual([{ path: 'flagId', message }])
      expect((await scene.world.storage.list('auditEvent', {})).total).toBe(before)
    },
  )

  it('Its fields can be changed only together with taking it back', async () => {
    const { send } = await archivedScene()
    expect((await send('PUT', { name: 'New' })).status).toBe(400)
    expect((await send('PUT', { name: 'New', archived: true })).status).toBe(400)
    expect((await send('PUT', { archived: true })).status).toBe(200)
    const taken = await send('PUT', { name: 'New', archived: false })
    expect([taken.status, taken.data.name, taken.data.archived]).toEqual([200, 'New', false])
  })

  it('It can be deleted, and its scheduled changes can be cancelled', async () => {
    const { scene, token, send } = await archivedScene()
    const { projectId, envId, flagId, changeId } = scene.params
    const change = `/projects/${projectId}/envs/${envId}/flags/${flagId}/scheduled-changes/${changeId}`
    expect((await scene.world.call('DELETE', change, { token })).status).toBe(200)
    expect((await send('DELETE')).status).toBe(200)
  })
})
