import { cleanup, screen } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PROJECT } from '../../../test/fake-server.ts'
import { FakeShop } from '../../../test/fake-shop.ts'
import { leaveApp, renderApp } from '../../../test/render-app.tsx'
import { messages } from '../../messages/messages.ts'

const { newFlag: texts } = messages
const ADDRESS = `/p/${PROJECT}/new-flag`

beforeEach(() => {
  new FakeShop()
})
afterEach(leaveApp)

const nameField = () => screen.findByRole<HTMLInputElement>('textbox', { name: texts.name })

it('The form of a new flag survives a link, going back and a reload, until it is discarded', async () => {
  const { router } = renderApp(ADDRESS)
  await userEvent.type(await nameField(), 'Dark mode')
  await userEvent.click(screen.getByRole('link', { name: messages.shell.segments }))
  await screen.findByRole('heading', { level: 1, name: messages.shell.segments })
  router.history.back()
  expect((await nameField()).value).toBe('Dark mode')
  cleanup()
  renderApp(ADDRESS)
  expect((await nameField()).value).toBe('Dark mode')
  const leaving = new Event('beforeunload', { cancelable: true })
  window.dispatchEvent(leaving)
  expect(leaving.defaultPrevented).toBe(true)
  await userEvent.click(screen.getByRole('button', { name: texts.discard }))
  expect((await nameField()).value).toBe('')
  cleanup()
  renderApp(ADDRESS)
  expect((await nameField()).value).toBe('')
  expect(screen.queryByRole('button', { name: texts.discard })).toBeNull()
})
