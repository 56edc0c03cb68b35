import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { addressesOf, type Json, World } from '../world/world.ts'

const PAGE = new URL('../../../../docs/managing-flags.md', import.meta.url)

/** Returns the path and the body of the documented publish. */
function documented(): { readonly path: string; readonly body: Json } {
  const [, path = '', text = ''] =
    /curl -X PUT http:\/\/localhost:4400(\S+\/configuration) [^']*(?:'[^{][^']*'[^']*)*-d '(\{[^']*\})'/.exec(
      readFileSync(PAGE, 'utf8'),
    ) ?? []
  return { path, body: JSON.parse(text) }
}

it('The documented request publishes a configuration, first as a dry run', async () => {
  const { path, body } = documented()
  const world = await World.create()
  const tenant = await world.addTenant('Acme')
  const token = tenant.tokens.editor
  const key = path.split('/').at(-2)
  const flag = { key, type: 'boolean' }
  expect((await world.call('POST', addressesOf(tenant).flags, { token, body: flag })).status).toBe(
    201,
  )
  const segment = { key: 'partners' }
  await world.call('POST', addressesOf(tenant).segments, { token, body: segment })
  const { headers } = await world.call('GET', path, { token })
  const send = (sent: Json) =>
    world.call('PUT', path, { token, body: sent, headers: { 'if-match': headers['ETag'] ?? '' } })
  const dry = await send(body)
  expect([dry.message, dry.data.differences.length]).toEqual(['OK', 3])
  const published = await send({ ...body, dry_run: false })
  expect(published.data.version).toBe(dry.data.version + 1)
  expect(published.data.differences).toEqual(dry.data.differences)
})
