import { act, screen } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PROJECT } from '../../../test/fake-server.ts'
import { FakeShop } from '../../../test/fake-shop.ts'
import { leaveApp, renderApp } from '../../../test/render-app.tsx'
import { messages } from '../../messages/messages.ts'

const { playground: texts } = messages
const SECRET = 'ada@example.com'

let shop: FakeShop
let app: ReturnType<typeof renderApp>

beforeEach(async () => {
  shop = new FakeShop()
  app = renderApp(`/p/${PROJECT}/playground?env=live`)
  await userEvent.type(await keyField(), SECRET)
})
afterEach(leaveApp)

const keyField = () => screen.findByRole<HTMLInputElement>('textbox', { name: texts.key })

async function go(path: 'segments' | 'playground'): Promise<void> {
  await act(() => app.router.navigate({ to: `/p/$project/${path}`, params: { project: PROJECT } }))
}

it('A context is kept while the user is on another page, but neither in the address nor in a storage', async () => {
  await go('segments')
  await screen.findByText('Partners')
  await go('playground')
  expect((await keyField()).value).toBe(SECRET)
  const stores = [{ ...localStorage }, { ...sessionStorage }, window.location.href]
  expect(JSON.stringify(stores)).not.toContain(SECRET)
})

it('The value of an attribute that is true or false is chosen, and is true at first', async () => {
  await userEvent.click(screen.getByRole('button', { name: texts.addAttribute }))
  await userEvent.click(screen.getByRole('button', { name: new RegExp(`${texts.type}$`) }))
  await userEvent.click(await screen.findByRole('option', { name: texts.types.boolean }))
  const value = await screen.findByRole('button', { name: `true ${texts.value}` })
  await userEvent.click(value)
  await userEvent.click(await screen.findByRole('option', { name: 'false' }))
  await screen.findByRole('button', { name: `false ${texts.value}` })
})

it.each([
  ['the same user', 'user-1'],
  ['another user', 'user-2'],
])('A context does not survive a log-out and a new log-in of %s', async (_, userId) => {
  await act(() => app.session.logOut())
  shop.userId = userId
  await act(() => app.session.load())
  await go('playground')
  expect((await keyField()).value).toBe('')
})
