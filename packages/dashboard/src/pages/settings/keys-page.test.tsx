import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, expect, it, vi } from 'vitest'
import { FakeServer, logInReply, ORG, PROJECT, reply } from '../../../test/fake-server.ts'
import { messages } from '../../messages/messages.ts'
import { Session } from '../../session/session.ts'
import { SessionContext } from '../../session/use-session.ts'
import { NewKeyDialog } from './new-key-dialog.tsx'

const { keys: texts } = messages
const SECRET = 'ff_0123456789abcdef0123456789abcdef'
const TIME = '2030-01-01T00:00:00.000Z'
const record = { created_at: TIME, updated_at: TIME, deleted_at: null, revision: 1 }
const environment = {
  id: ORG,
  projectId: PROJECT,
  key: 'live',
  name: 'Live',
  isDefault: true,
  isProduction: true,
  commentRequired: false,
  orderIndex: 0,
  contextPrivacy: 'minimal',
  keptAttributes: [] as string[],
  createdAt: TIME,
  updatedAt: TIME,
  deletedAt: null,
  revision: 1,
} as const
const issued = {
  ...{ id: PROJECT, environment_id: ORG, project_id: PROJECT, name: 'live key', kind: 'server' },
  ...{ prefix: SECRET.slice(0, 11), expires_at: null, revoked_at: null, rate_limit: null },
  ...{ last_used_at: null, ...record },
}

async function open(server: FakeServer) {
  server.next(reply(logInReply('admin')))
  const session = new Session('')
  await session.load()
  const queryClient = new QueryClient()
  const onClose = vi.fn()
  const { rerender } = render(
    <SessionContext value={session}>
      <QueryClientProvider client={queryClient}>
        <NewKeyDialog environment={environment} onClose={onClose} />
      </QueryClientProvider>
    </SessionContext>,
  )
  onClose.mockImplementation(() => rerender(<p>closed</p>))
  return { queryClient, onClose }
}

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

it('A new key is shown once: after the dialog is closed, no cache, storage or page contains it', async () => {
  const server = new FakeServer()
  const { queryClient, onClose } = await open(server)
  server.next(reply({ ...issued, key: SECRET }, { status: 201 }))
  await userEvent.click(screen.getByRole('button', { name: texts.createKey }))
  expect((await screen.findByText(SECRET)).textContent).toBe(SECRET)
  await userEvent.keyboard('{Escape}')
  expect(onClose).not.toHaveBeenCalled()
  await userEvent.click(screen.getByRole('button', { name: texts.close }))
  expect(document.body.textContent).toBe('closed')
  const caches = [queryClient.getQueryCache().getAll(), queryClient.getMutationCache().getAll()]
  const kept = caches.flat().map(({ state }) => state)
  const stores = [{ ...localStorage }, { ...sessionStorage }, window.location.href]
  expect(JSON.stringify([kept, stores])).not.toContain(SECRET)
})

it('Beside a new key, there is the code for Node with the key and the address of the server', async () => {
  const server = new FakeServer()
  const { onClose } = await open(server)
  server.next(reply({ ...issued, key: SECRET }, { status: 201 }))
  await userEvent.click(screen.getByRole('button', { name: texts.createKey }))
  const code = (await screen.findByRole('region', { name: texts.connect })).textContent
  expect(code).toContain(`url: '${window.location.origin}'`)
  expect(code).toContain(`sdkKey: '${SECRET}'`)
  screen.getByText('npm install @ff/client @ff/core')
  await userEvent.click(screen.getByRole('button', { name: texts.close }))
  expect(onClose).toHaveBeenCalled()
  expect(document.body.textContent).not.toContain(SECRET)
})

it('A repeated request says that the key cannot be shown', async () => {
  const server = new FakeServer()
  await open(server)
  server.next(reply({ ...issued, key: null }, { status: 201 }))
  await userEvent.click(screen.getByRole('button', { name: texts.createKey }))
  await screen.findByText(texts.secretLost)
})

it('A refused name is reported at its field, and another name is another request', async () => {
  const server = new FakeServer()
  await open(server)
  const issues = [{ path: 'name', message: 'is too long' }]
  server.next(reply({ issues }, { status: 400 }))
  server.next(reply({ ...issued, key: SECRET }, { status: 201 }))
  await userEvent.click(screen.getByRole('button', { name: texts.createKey }))
  await screen.findByText('is too long')
  await userEvent.type(screen.getByLabelText(texts.name), '2')
  await userEvent.click(screen.getByRole('button', { name: texts.createKey }))
  await screen.findByText(SECRET)
  const keys = server.requests.slice(1, 3).map(({ headers }) => headers.get('Idempotency-Key'))
  expect(new Set(keys).size).toBe(2)
  expect(keys).not.toContain(null)
})
