import { screen, within } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  FakeServer,
  logInReply,
  ORG,
  PROJECT,
  reply,
  type SentRequest,
} from '../../test/fake-server.ts'
import { leaveApp, renderApp } from '../../test/render-app.tsx'
import { messages } from '../messages/messages.ts'
import { readLastProject } from './last-project.ts'

const OTHER_ORG = '55555555-5555-4555-8555-555555555555'
const ENV = '33333333-3333-4333-8333-333333333333'
const DRAFT = 'ff-draft:1:["user-1","environment","flag"]'
const TIME = '2026-01-01T00:00:00.000Z'

const pageOf = (data: readonly unknown[]) =>
  reply({ data, meta: { total: data.length, page: 1, pageCount: 1 } })
const record = { created_at: TIME, updated_at: TIME, deleted_at: null, revision: 1 }
const environment = {
  ...{ id: ENV, project_id: PROJECT, key: 'live', name: 'Live', context_privacy: 'minimal' },
  ...{ order_index: 0, is_production: true, comment_required: false, kept_attributes: [] },
  ...{ is_default: true, ...record },
}
const project = {
  ...{ id: PROJECT, key: 'shop', name: 'Shop', org_id: OTHER_ORG, description: '' },
  ...{ new_flags_client_visible: false, environments: [environment], ...record },
}
const organization = {
  ...{ id: ORG, name: 'Acme', billing_email: null, metadata: {}, plan_id: null, flag_count: 0 },
  ...{ project_count: 0, environment_count: 0, trial_starts_at: null, trial_ends_at: null },
  ...{ current_period_end: null, api_usage: 0, has_used_paid_trial: false, ...record },
}
const organizationOf = ({ headers }: SentRequest) => headers.get('X-FF-Organization')

/** Answers by the path of a request, whatever the order. */
function serve(server: FakeServer, answers: Record<string, (request: SentRequest) => Response>) {
  for (let index = 0; index < 200; index += 1) {
    server.next((request) => {
      const path = request.url.split('?')[0] ?? ''
      return answers[`${request.method} ${path}`]?.(request) ?? reply(null, { status: 404 })
    })
  }
}

let server: FakeServer
const member = (id = 'user-1') => ({
  ...logInReply('owner', id),
  memberships: [
    { org_id: ORG, name: 'Acme', role: 'owner' },
    { org_id: OTHER_ORG, name: 'Other', role: 'owner' },
  ],
})

beforeEach(() => {
  server = new FakeServer()
})
afterEach(leaveApp)

describe('a link into a project', () => {
  it('A project of another organization of the user selects that organization.', async () => {
    serve(server, {
      'GET /auth/me': (request) => {
        const orgId = organizationOf(request) ?? ORG
        return reply({ ...member(), user: { ...member().user, org_id: orgId } })
      },
      [`GET /projects/${PROJECT}`]: (request) =>
        organizationOf(request) === OTHER_ORG ? reply(project) : reply(null, { status: 404 }),
      [`GET /organizations/${OTHER_ORG}/projects`]: () => pageOf([project]),
      [`GET /projects/${PROJECT}/segments`]: () => pageOf([]),
    })
    const { session } = renderApp(`/p/${PROJECT}/segments`)
    await expect.poll(() => session.state().organizationId).toBe(OTHER_ORG)
    await screen.findByRole('heading', { level: 1, name: messages.shell.segments })
    expect(screen.queryByText(messages.errors.notFound)).toBeNull()
  })

  it('A project that no organization of the user has is said to be unknown.', async () => {
    serve(server, { 'GET /auth/me': () => reply(member()) })
    renderApp(`/p/${PROJECT}/segments`)
    await screen.findByText(messages.errors.notFound)
    const asked = server.requests.filter(({ url }) => url === `/projects/${PROJECT}`)
    expect(asked.map(organizationOf)).toContain(OTHER_ORG)
  })
})

describe('the first page', () => {
  it('An administrator of the installation chooses an organization.', async () => {
    const platform = { ...logInReply('platform'), memberships: [] }
    const nobody = { ...platform, user: { ...platform.user, org_id: null } }
    serve(server, {
      'GET /auth/me': () => reply(nobody),
      'GET /organizations': () => pageOf([organization]),
      [`GET /organizations/${ORG}/projects`]: () => pageOf([]),
    })
    const { session } = renderApp('/')
    await userEvent.click(await screen.findByRole('button', { name: 'Acme' }))
    await screen.findByText(messages.shell.noProjects)
    expect(session.state().organizationId).toBe(ORG)
  })

  it('Without an organization, the page says so and links to the documentation.', async () => {
    const platform = { ...logInReply('platform'), memberships: [] }
    serve(server, {
      'GET /auth/me': () => reply({ ...platform, user: { ...platform.user, org_id: null } }),
      'GET /organizations': () => pageOf([]),
    })
    renderApp('/')
    await screen.findByText(messages.session.noOrganizations)
    const main = within(screen.getByRole('main'))
    const link = main.getByRole('link', { name: messages.shell.apiReference })
    expect(link.getAttribute('href')).toBe('/docs')
  })
})

describe('the command bar', () => {
  const answers = {
    'GET /auth/me': () => reply(member()),
    [`GET /projects/${PROJECT}`]: () => reply(project),
    [`GET /organizations/${ORG}/projects`]: () => pageOf([project]),
  }
  const { commandBar, shell } = messages

  it('A button with its shortcut opens the command bar, and has the focus again afterwards.', async () => {
    serve(server, answers)
    renderApp(`/p/${PROJECT}/history`)
    const button = await screen.findByRole('button', { name: new RegExp(`^${commandBar.button}`) })
    expect(button.textContent).toBe('CommandsCtrl K')
    await userEvent.click(button)
    const input = await screen.findByRole('combobox', { name: commandBar.title })
    await userEvent.type(input, '{Escape}')
    await expect.poll(() => screen.queryByRole('dialog')).toBeNull()
    await expect.poll(() => document.activeElement).toBe(button)
  })

  it('A theme that is chosen in the command bar is shown by the select in the side bar.', async () => {
    serve(server, answers)
    renderApp(`/p/${PROJECT}/history`)
    await userEvent.click(await screen.findByRole('button', { name: /Theme/ }))
    await userEvent.click(await screen.findByRole('option', { name: shell.themeLight }))
    await screen.findByRole('button', { name: 'Light Theme' })
    await userEvent.keyboard('{Control>}k{/Control}')
    const input = await screen.findByRole('combobox', { name: commandBar.title })
    await userEvent.type(input, 'theme dark{Enter}')
    await screen.findByRole('button', { name: 'Dark Theme' })
    expect(document.documentElement.dataset['theme']).toBe('dark')
    expect(localStorage.getItem('ff-theme')).toBe('dark')
    delete document.documentElement.dataset['theme']
  })

  it('The list of shortcuts names the keys as they are on the keyboard.', async () => {
    serve(server, answers)
    renderApp(`/p/${PROJECT}/history`)
    await screen.findByRole('button', { name: new RegExp(`^${commandBar.button}`) })
    await userEvent.keyboard('?')
    const dialog = within(await screen.findByRole('dialog', { name: shell.keyboardShortcuts }))
    expect(dialog.getByText('Ctrl K')).toBeDefined()
    expect(dialog.queryByText(/mod/)).toBeNull()
  })
})

describe('the line of production', () => {
  const answers = {
    'GET /auth/me': () => reply(member()),
    [`GET /projects/${PROJECT}`]: () => reply(project),
    [`GET /organizations/${ORG}/projects`]: () => pageOf([project]),
    [`GET /projects/${PROJECT}/segments`]: () => pageOf([]),
  }
  const line = messages.shell.pageOfProduction

  it.each(['', '?env=live'])(
    'A page that shows production has it with the address "…%s".',
    async (search) => {
      serve(server, answers)
      renderApp(`/p/${PROJECT}/history${search}`)
      await screen.findByText(line)
    },
  )

  it('A page of all environments does not have it, although its address keeps the environment.', async () => {
    serve(server, answers)
    const { router } = renderApp(`/p/${PROJECT}/history?env=live`)
    await screen.findByText(line)
    await userEvent.click(screen.getByRole('link', { name: messages.shell.segments }))
    await screen.findByRole('heading', { level: 1, name: messages.shell.segments })
    expect(router.state.location.search).toEqual({ env: 'live' })
    expect(screen.queryByText(line)).toBeNull()
  })
})

describe('the side bar', () => {
  const answers = {
    'GET /auth/me': () => reply(member()),
    [`GET /projects/${PROJECT}`]: () => reply(project),
    [`GET /organizations/${ORG}/projects`]: () => pageOf([project]),
    'POST /auth/logout': () => reply(null),
    'GET /auth/methods': () => reply({ password: true, oidc: null }),
  }

  it('A link keeps the environment of the page, and the project is remembered for the user.', async () => {
    serve(server, answers)
    const { router } = renderApp(`/p/${PROJECT}/history?env=live`)
    await userEvent.click(await screen.findByRole('link', { name: messages.shell.playground }))
    await expect.poll(() => router.state.location.pathname).toContain('playground')
    expect(router.state.location.search).toEqual({ env: 'live' })
    expect(readLastProject('user-1')).toBe(PROJECT)
    expect(readLastProject('user-2')).toBeUndefined()
  })

  it('A log-out with drafts asks first, and then removes them.', async () => {
    serve(server, answers)
    const { router } = renderApp(`/p/${PROJECT}/history`)
    sessionStorage.setItem(DRAFT, '{}')
    await userEvent.click(await screen.findByRole('button', { name: 'Ada' }))
    await userEvent.click(await screen.findByRole('menuitem', { name: messages.session.logOut }))
    const confirm = await screen.findByRole('button', { name: messages.session.logOutConfirm })
    expect(sessionStorage.getItem(DRAFT)).toBe('{}')
    await userEvent.click(confirm)
    await expect.poll(() => router.state.location.pathname).toBe('/login')
    expect(sessionStorage.getItem(DRAFT)).toBeNull()
  })

  it('After the log-in of another user, nothing of the first user is in the page or in the cache.', async () => {
    let user = member()
    serve(server, { ...answers, 'GET /auth/me': () => reply(user) })
    const { session, queryClient } = renderApp(`/p/${PROJECT}/history`)
    await screen.findByRole('button', { name: 'Ada' })
    queryClient.setQueryData(['project', PROJECT, 'flag', 'x'], 'of the first user')
    user = { ...member('user-2'), user: { ...member('user-2').user, name: 'Grace' } }
    await session.load()
    await screen.findByRole('button', { name: 'Grace' })
    expect(screen.queryByRole('button', { name: 'Ada' })).toBeNull()
    expect(queryClient.getQueryData(['project', PROJECT, 'flag', 'x'])).toBeUndefined()
  })
})
