import { memory } from '@ff/storage'
import { expect, it, onTestFinished } from 'vitest'
import { toNodeHandler } from '../../../server/src/node/http.ts'
import { listen } from '../../../server/test/node/listening.ts'
import { createManagedServer } from '../world/managed-server.ts'

const ADMIN_TOKEN = 'a token of the administrator'.replaceAll(' ', '-')
const FLAGS = 30

it('A list of flag summaries is compressed for a client that accepts it, and has the same content and tag', async () => {
  const flags = createManagedServer({ ...memory(), adminToken: ADMIN_TOKEN })
  await flags.start()
  const host = await listen(toNodeHandler(flags))
  onTestFinished(async () => {
    await host.close()
    await flags.close()
  })
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
  const post = async (path: string, body: object): Promise<string> => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const reply = await fetch(host.url + path, init)
    return ((await reply.json()) as { readonly data: { readonly id: string } }).data.id
  }
  const orgId = await post('/organizations', { name: 'Acme' })
  const projectId = await post(`/organizations/${orgId}/projects`, { key: 'shop' })
  for (let at = 0; at < FLAGS; at += 1) {
    await post(`/projects/${projectId}/flags`, { key: `flag-${at}`, type: 'boolean' })
  }
  const list = async (encoding: string) => {
    const address = `${host.url}/projects/${projectId}/flag-summaries`
    const reply = await fetch(address, { headers: { ...headers, 'accept-encoding': encoding } })
    const { headers: received } = reply
    const names = ['etag', 'vary', 'content-encoding', 'content-length'] as const
    const [etag, vary, contentEncoding, length] = names.map((name) => received.get(name))
    return { etag, vary, contentEncoding, length: Number(length), text: await reply.text() }
  }
  const plain = await list('identity')
  expect(plain).toMatchObject({ contentEncoding: null, vary: 'Accept-Encoding' })
  expect(JSON.parse(plain.text).data.data).toHaveLength(FLAGS)
  for (const encoding of ['gzip', 'br']) {
    const compressed = await list(encoding)
    expect(compressed).toMatchObject({ contentEncoding: encoding, etag: plain.etag })
    expect(compressed.text).toBe(plain.text)
    expect(compressed.length).toBeLessThan(plain.length / 4)
  }
})
