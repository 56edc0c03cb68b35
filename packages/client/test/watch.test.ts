import { expect, it } from 'vitest'
import { flagChange, textFlag } from '../../server/test/seed.ts'
import { createTestClient } from '../src/testing.ts'
import { createLocalScene, untilCurrent } from './local/local-scene.ts'
import { createScene, flags } from './scene.ts'

it('A watcher is called after each change of a value or of the status.', async () => {
  const { client, server, time, errors } = createScene()
  const seen: unknown[] = []
  client.watch(() => {
    throw new Error('broken watcher')
  })
  const stop = client.watch(() => {
    const { source, isCurrent, connection, failure } = client.status
    seen.push([client.value('theme'), source, isCurrent, connection, failure])
  })
  await time.advance(100)
  server.publish({ theme: 'dark' })
  server.state = 'down'
  server.drop()
  client.close()
  stop()
  stop()
  await client.reset({})
  expect(seen).toEqual([
    ['light', 'server', true, 'socket', undefined],
    ['dark', 'server', true, 'socket', undefined],
    ['dark', 'server', false, 'waiting', 'unreachable'],
    ['dark', 'server', false, 'closed', 'unreachable'],
  ])
  expect(errors).toHaveLength(4)
})

it('A watcher is called when the context changes, becomes invalid and becomes valid again.', async () => {
  const { client, time } = createScene()
  await time.advance(100)
  const seen: unknown[] = []
  client.watch(() => seen.push([client.status.isOfContext, client.detail('theme').errorCode]))
  void client.setContext({ kind: 'user', key: 'u2' })
  expect(seen).toEqual([[false, undefined]])
  await time.advance(100)
  void client.setContext(null as never)
  void client.setContext({ kind: 'user', key: 'u2' })
  expect(seen.slice(1)).toEqual([
    [true, undefined],
    [true, 'INVALID_CONTEXT'],
    [true, undefined],
  ])
  client.close()
})

it('`isOfContext` is false while the values belong to the previous context.', async () => {
  const { client, time } = createScene()
  expect(client.status.isOfContext).toBe(false)
  await time.advance(100)
  expect(client.status.isOfContext).toBe(true)
  void client.setContext({ kind: 'user', key: 'u2' })
  expect(client.status.isOfContext).toBe(false)
  void client.setContext({ kind: 'user', key: 'u1' })
  expect(client.status.isOfContext).toBe(true)
  void client.setContext({ kind: 'user', key: 'u2' })
  await time.advance(100)
  expect(client.status.isOfContext).toBe(true)
  client.close()
})

it('Watchers of a local client and of its views are called for each change.', async () => {
  const scene = await createLocalScene()
  const local = scene.create()
  const view = local.for({})
  const seen: string[] = []
  local.watch(() => seen.push(`local ${local.status.isCurrent}`))
  const stop = view.watch(() => seen.push(`view ${view.value('banner')}`))
  await untilCurrent(scene, local)
  expect(seen).toContain('local true')
  await scene.publish(flagChange(textFlag('banner', 'hello')))
  await scene.clock.advance(1000)
  expect(seen.at(-1)).toBe('view hello')
  scene.network.down()
  expect(seen).toContain('local false')
  stop()
  seen.length = 0
  void view.setContext({ kind: 'user', key: 'u2' })
  expect(seen).toEqual([])
  view.watch(() => seen.push('changed'))
  void view.setContext({ kind: 'user', key: 'u3' })
  view.freeze()
  view.unfreeze()
  view.close()
  view.watch(() => seen.push('never'))()
  void view.setContext({})
  expect(seen).toEqual(['changed', 'changed', 'changed'])
  await scene.close()
})

it('Watchers of a test client are called for each change.', () => {
  const client = createTestClient(flags)
  const seen: unknown[] = []
  client.watch(() => seen.push([client.value('theme'), client.status.connection]))
  client.set({ theme: 'dark' })
  client.close()
  client.set({ theme: 'light' })
  client.connect()
  expect(seen).toEqual([
    ['dark', 'socket'],
    ['dark', 'closed'],
    ['dark', 'socket'],
  ])
})

it('Without defined flags, a client has the values of all flags.', async () => {
  const { client, time } = createScene({ flags: undefined as never })
  await time.advance(100)
  expect(client.value('theme')).toBe('light')
  client.close()
})
