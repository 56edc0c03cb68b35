import { memory } from '@ff/storage'
import { expect, it, onTestFinished } from 'vitest'
import { toNodeHandler } from '../../../server/src/node/http.ts'
import { listen } from '../../../server/test/node/listening.ts'
import { createManagedServer } from '../world/managed-server.ts'

const ADMIN_TOKEN = 'a token of the administrator'.replaceAll(' ', '-')

async function openServer() {
  const parts = memory()
  const flags = createManagedServer({ ...parts, adminToken: ADMIN_TOKEN })
  await flags.start()
  const host = await listen(toNodeHandler(flags))
  onTestFinished(async () => {
    await host.close()
    await flags.close()
  })
  const create = (comment: string) =>
    fetch(`${host.url}/organizations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        'content-type': 'application/json',
        'X-FF-Comment': comment,
      },
      body: JSON.stringify({ name: 'Acme' }),
    })
  const comments = async () =>
    (await parts.storage.list('auditEvent', {})).data.map(({ comment }) => comment)
  return { create, comments }
}

it('A comment of 1,000 characters of four bytes each fits into a header', async () => {
  const { create, comments } = await openServer()
  const longest = '😀'.repeat(1000)
  expect((await create(encodeURIComponent(longest))).status).toBe(201)
  expect(await comments()).toEqual([longest])
})

it('A comment that is not encoded is refused if it is not ASCII, and accepted otherwise', async () => {
  const { create, comments } = await openServer()
  for (const raw of ['caf\u00e9', 'Ã©']) {
    const response = await create(raw)
    expect(response.status).toBe(400)
    const { data } = (await response.json()) as { data: { issues: unknown[] } }
    expect(data.issues).toMatchObject([{ path: 'X-FF-Comment' }])
  }
  expect((await create('Plain text, + and all')).status).toBe(201)
  expect(await comments()).toEqual(['Plain text, + and all'])
})

it('A comment of 65,536 characters is refused, and nothing changes', async () => {
  const { create, comments } = await openServer()
  const response = await create('x'.repeat(65_536)).catch(() => undefined)
  // Node closes the connection after its own limit of all headers.
  if (response !== undefined) expect(response.status).toBe(431)
  expect(await comments()).toEqual([])
})
