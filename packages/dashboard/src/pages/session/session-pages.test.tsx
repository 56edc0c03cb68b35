import { cleanup, screen } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeServer, logInReply, reply } from '../../../test/fake-server.ts'
import { renderApp } from '../../../test/render-app.tsx'
import { messages } from '../../messages/messages.ts'

let server: FakeServer
const texts = messages.session
const noProjects = () => reply({ data: [], meta: { total: 0, page: 1, pageCount: 0 } })

beforeEach(() => {
  server = new FakeServer()
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

describe('the log-in page', () => {
  const methods = (oidc: unknown) => reply({ password: true, oidc })

  it('A log-in with a password leads to the first page.', async () => {
    server.next(methods(null)).next(reply(logInReply())).next(noProjects())
    const { router } = renderApp('/login')
    await userEvent.type(await screen.findByLabelText(texts.email), 'Ada@acme.example')
    await userEvent.type(screen.getByLabelText(texts.password), 'a password')
    await userEvent.click(screen.getByRole('button', { name: texts.logIn }))
    await expect.poll(() => router.state.location.pathname).toBe('/')
    expect(server.requests[1]?.body).toEqual({ email: 'ada@acme.example', password: 'a password' })
  })

  it('A wrong password is reported at the form, and the input stays.', async () => {
    server.next(methods(null)).next(reply(null, { status: 401 }))
    renderApp('/login')
    await userEvent.type(await screen.findByLabelText(texts.email), 'ada@acme.example')
    await userEvent.type(screen.getByLabelText(texts.password), 'wrong')
    await userEvent.click(screen.getByRole('button', { name: texts.logIn }))
    expect((await screen.findByRole('alert')).textContent).toBe(texts.wrongCredentials)
    expect(screen.getByLabelText(texts.email)).toHaveProperty('value', 'ada@acme.example')
  })

  it('The identity provider is offered if the server names one.', async () => {
    server.next(methods({ name: 'Keycloak' }))
    renderApp('/login')
    const link = await screen.findByRole('link', { name: texts.logInWith('Keycloak') })
    expect(link.getAttribute('href')).toBe('/auth/oidc/start?return_to=%2F')
  })
})

describe('the page of a one-time link', () => {
  it('The token is removed from the address before a request, and is redeemed with the password.', async () => {
    server.next(reply(null)).next(reply(logInReply())).next(noProjects())
    const { router } = renderApp('/accept#ffl_abc-1_2')
    await userEvent.type(await screen.findByLabelText(texts.newPassword), 'a long password')
    expect(window.location.href).not.toContain('ffl_')
    expect(router.history.location.href).not.toContain('ffl_')
    await userEvent.click(screen.getByRole('button', { name: texts.accept }))
    await expect.poll(() => router.state.location.pathname).toBe('/')
    const sent = server.requests[0]?.body
    expect(sent).toHaveProperty('token', 'ffl_abc-1_2')
    expect(sent).toHaveProperty('new_password', 'a long password')
    expect(server.requests.map(({ url }) => url).join(' ')).not.toContain('ffl_')
  })

  it('A refused link is explained.', async () => {
    server.next(reply(null, { status: 401 }))
    renderApp('/accept#ffl_used')
    await userEvent.type(await screen.findByLabelText(texts.newPassword), 'a long password')
    await userEvent.click(screen.getByRole('button', { name: texts.accept }))
    expect((await screen.findByRole('alert')).textContent).toContain(texts.linkRefused)
  })

  it('A password that is too short is reported at its field, and can be corrected.', async () => {
    const issues = [{ path: 'new_password', message: 'is too short' }]
    server.next(reply({ issues }, { status: 400 }))
    renderApp('/accept#ffl_abc')
    await userEvent.type(await screen.findByLabelText(texts.newPassword), 'short')
    await userEvent.click(screen.getByRole('button', { name: texts.accept }))
    await screen.findByText('is too short')
    expect(screen.getByRole('button', { name: texts.accept })).toBeTruthy()
  })

  it('An address without a token is explained, without a request.', async () => {
    renderApp('/accept')
    expect((await screen.findByRole('alert')).textContent).toContain(texts.linkMissing)
    expect(server.requests).toHaveLength(0)
  })
})

describe('a page of the application', () => {
  it('A page without a session leads to the log-in page.', async () => {
    server.next(reply(null, { status: 401 })).next(reply({ password: true, oidc: null }))
    const { router } = renderApp('/p/11111111-1111-4111-8111-111111111111/flags')
    await expect.poll(() => router.state.location.pathname).toBe('/login')
  })

  it('After the log-in, the page that was wanted is shown; a provider also returns to it.', async () => {
    server
      .next(reply(null, { status: 401 }))
      .next(reply({ password: true, oidc: { name: 'Keycloak' } }))
      .next(reply(logInReply()))
    const { router } = renderApp('/projects/new?env=live')
    const link = await screen.findByRole('link', { name: texts.logInWith('Keycloak') })
    expect(link.getAttribute('href')).toContain(encodeURIComponent('/projects/new?env=live'))
    await userEvent.type(screen.getByLabelText(texts.email), 'ada@acme.example')
    await userEvent.type(screen.getByLabelText(texts.password), 'a password')
    await userEvent.click(screen.getByRole('button', { name: texts.logIn }))
    await expect.poll(() => router.state.location.pathname).toBe('/projects/new')
  })

  it('An address after log-in that names another host is ignored.', async () => {
    server.next(reply({ password: true, oidc: { name: 'Keycloak' } }))
    renderApp('/login?next=//other.example/')
    const link = await screen.findByRole('link', { name: texts.logInWith('Keycloak') })
    expect(link.getAttribute('href')).toBe('/auth/oidc/start?return_to=%2F')
  })

  it('An address that does not exist is said to be unknown or without access.', async () => {
    renderApp('/nowhere')
    await screen.findByText(messages.errors.notFound)
  })
})
