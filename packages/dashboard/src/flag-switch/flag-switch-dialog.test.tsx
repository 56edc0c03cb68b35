import type { Environment } from '@ff/protocol/management'
import { QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { logInReply, PROJECT, reply } from '../../test/fake-server.ts'
import { ToastRegion } from '../components/toast.tsx'
import { messages } from '../messages/messages.ts'
import { createQueryClient } from '../queries/query-client.ts'
import { Session } from '../session/session.ts'
import { SessionContext } from '../session/use-session.ts'
import { FlagSwitch } from './flag-switch.tsx'
import { FlagSwitchDialogHost } from './flag-switch-dialog-host.tsx'

const ENVIRONMENT = '33333333-3333-4333-8333-333333333333'
const FLAG = '44444444-4444-4444-8444-444444444444'
const [ON, OFF] = ['55555555-5555-4555-8555-555555555555', '66666666-6666-4666-8666-666666666666']
const times = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }
const texts = messages.flagSwitch

const environment: Environment = {
  id: ENVIRONMENT,
  projectId: PROJECT,
  key: 'live',
  name: 'Live',
  isDefault: true,
  isProduction: true,
  commentRequired: false,
  orderIndex: 0,
  contextPrivacy: 'minimal',
  keptAttributes: [],
  createdAt: times.created_at,
  updatedAt: times.updated_at,
  deletedAt: null,
  revision: 1,
}

/** The state of one flag at a server, which answers by the paths of the requests. */
class FlagServer {
  readonly changes: { readonly headers: Headers; readonly body: unknown }[] = []
  isActive = true
  revision = 1
  targets: object[] = []
  refusal: Response | undefined

  constructor() {
    vi.stubGlobal('fetch', async (url: string, init: RequestInit = {}) => this.#answer(url, init))
  }

  #answer(url: string, { method = 'GET', headers, body }: RequestInit): Response {
    if (url.endsWith('/auth/me')) return reply(logInReply())
    if (url.endsWith('/preview')) return reply({ code: 'BUSY' }, { status: 429 })
    if (url.endsWith('/configuration')) return this.#configuration()
    if (url.endsWith(`/envs/${ENVIRONMENT}/flags/${FLAG}`)) {
      if (method === 'GET') return this.#state()
      const sent = { headers: new Headers(headers), body: JSON.parse(String(body)) }
      this.changes.push(sent)
      if (this.refusal !== undefined) return this.refusal
      if (sent.headers.get('If-Match') !== `"${this.revision}"`) return this.#state(409)
      this.revision += 1
      this.isActive = sent.body.is_active
      return this.#state()
    }
    return url.endsWith(`/flags/${FLAG}`) ? flagReply() : reply(null, { status: 404 })
  }

  #settings() {
    const variations = { default_variation_id: null, off_variation_id: OFF }
    return { is_active: this.isActive, ...variations, targets: this.targets, prerequisites: [] }
  }

  #state(status = 200): Response {
    const ids = { id: FLAG, flag_id: FLAG, environment_id: ENVIRONMENT, project_id: PROJECT }
    const record = { ...times, deleted_at: null, revision: this.revision }
    const etag = { ETag: `"${this.revision}"` }
    return reply({ ...ids, ...this.#settings(), ...record }, { status, headers: etag })
  }

  #configuration(): Response {
    const parts = { targeting_rules: [], rollouts: [], revision: this.revision }
    return reply(
      { state: this.#settings(), ...parts },
      { headers: { ETag: `"c${this.revision}"` } },
    )
  }
}

function flagReply(): Response {
  const record = { ...times, deleted_at: null, revision: 1, project_id: PROJECT, description: '' }
  const variation = (id: string | undefined, key: string) => {
    const own = { id, flag_id: FLAG, key, name: key, value: key, order_index: 0 }
    return { ...record, ...own, is_default: key === 'true' }
  }
  const flag = { id: FLAG, key: 'checkout', name: 'Checkout', type: 'boolean', tags: [] }
  const marks = { client_visible: true, archived_at: null, last_evaluated_at: null }
  const variations = [variation(ON, 'true'), variation(OFF, 'false')]
  return reply({ ...record, ...flag, ...marks, archived: false, variations })
}

let server: FlagServer

async function openDialog(isActive: boolean, changes: Partial<Environment> = {}) {
  server.isActive = isActive
  const session = new Session('')
  await session.load()
  const flag = { id: FLAG, key: 'checkout', name: 'Checkout' }
  render(
    <SessionContext value={session}>
      <QueryClientProvider client={createQueryClient()}>
        <FlagSwitchDialogHost>
          <FlagSwitch
            flag={flag}
            environment={{ ...environment, ...changes }}
            isActive={isActive}
          />
        </FlagSwitchDialogHost>
        <ToastRegion />
      </QueryClientProvider>
    </SessionContext>,
  )
  await userEvent.click(screen.getByRole('switch', { name: 'Checkout in Live' }))
  return screen.findByRole('alertdialog')
}

beforeEach(() => {
  server = new FlagServer()
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

describe('the dialog that switches a flag', () => {
  it('A click on the switch changes nothing; the dialog says what everyone will get.', async () => {
    const dialog = await openDialog(true)
    await expect.poll(() => dialog.textContent).toContain('Everyone gets false')
    expect(dialog.textContent).toContain('Live')
    expect(server.changes).toEqual([])
  })

  it('The confirmation changes only the state, and can be repeated safely.', async () => {
    await openDialog(true)
    await userEvent.click(screen.getByRole('button', { name: texts.switchOff }))
    await expect.poll(() => server.isActive).toBe(false)
    expect(server.changes[0]?.body).toEqual({ is_active: false })
    expect(server.changes[0]?.headers.get('Idempotency-Key')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('A preview that the server refuses is named, and the switch works.', async () => {
    const dialog = await openDialog(true)
    await expect.poll(() => dialog.textContent).toContain(texts.impactBusy)
    await userEvent.click(screen.getByRole('button', { name: texts.switchOff }))
    await expect.poll(() => server.isActive).toBe(false)
  })

  it('A change by another user is shown, and the next confirmation succeeds.', async () => {
    const dialog = await openDialog(true)
    await expect.poll(() => dialog.textContent).toContain('Everyone gets false')
    server.revision = 7
    server.targets = [{ variation_id: ON, kind: 'user', keys: ['ada'] }]
    await userEvent.click(screen.getByRole('button', { name: texts.switchOff }))
    await expect.poll(() => dialog.textContent).toContain('Targets added: user ada')
    expect(server.isActive).toBe(true)
    await userEvent.click(screen.getByRole('button', { name: texts.switchOff }))
    await expect.poll(() => server.isActive).toBe(false)
    expect(server.changes.map(({ headers }) => headers.get('If-Match'))).toEqual(['"1"', '"7"'])
  })

  it('A flag that is already in the wanted state cannot be switched again.', async () => {
    await openDialog(true)
    server.revision = 2
    server.isActive = false
    await userEvent.click(screen.getByRole('button', { name: texts.switchOff }))
    expect(await screen.findByText(texts.alreadyOff)).toBeDefined()
  })

  it('Switching on needs a comment if the environment requires one; switching off does not.', async () => {
    await openDialog(false, { commentRequired: true })
    await userEvent.click(screen.getByRole('button', { name: texts.switchOn }))
    expect(await screen.findByText(texts.commentMissing)).toBeDefined()
    expect(server.changes).toEqual([])
    await userEvent.type(screen.getByLabelText(texts.comment), 'Größe ok')
    await userEvent.click(screen.getByRole('button', { name: texts.switchOn }))
    await expect.poll(() => server.isActive).toBe(true)
    const comment = server.changes[0]?.headers.get('X-FF-Comment') ?? ''
    expect(decodeURIComponent(comment)).toBe('Größe ok')
  })

  it('A refusal is shown in the dialog, which stays open.', async () => {
    const dialog = await openDialog(true)
    server.refusal = reply(null, { status: 500 })
    await userEvent.click(screen.getByRole('button', { name: texts.switchOff }))
    await expect.poll(() => dialog.textContent).toContain(texts.failedOff)
    expect(screen.getByRole('alertdialog')).toBe(dialog)
  })

  it('"Undo" restores the state, unless the flag was changed again.', async () => {
    await openDialog(true)
    await userEvent.click(screen.getByRole('button', { name: texts.switchOff }))
    await expect.poll(() => server.isActive).toBe(false)
    // The messages of earlier tests are still shown.
    const undo = await screen.findAllByRole('button', { name: messages.components.undo })
    await userEvent.click(undo.at(-1) as HTMLElement)
    await expect.poll(() => server.isActive).toBe(true)
    expect(await screen.findByText(texts.undoDone('Checkout', 'Live', true))).toBeDefined()
  })
})
