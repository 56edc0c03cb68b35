import { cleanup, screen, waitFor } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PROJECT } from '../../test/fake-server.ts'
import { FakeShop, FLAG, SEGMENT } from '../../test/fake-shop.ts'
import { leaveApp, renderApp } from '../../test/render-app.tsx'

const SEGMENT_PAGE = `/p/${PROJECT}/segments/${SEGMENT}`
const SETTINGS = `/p/${PROJECT}/flags/${FLAG}?tab=settings`
const VARIATIONS = `/p/${PROJECT}/flags/${FLAG}?tab=variations`

let shop: FakeShop

beforeEach(() => {
  shop = new FakeShop()
})
afterEach(leaveApp)

/** Opens a page in a new application, as a reload does. */
function load(address: string) {
  cleanup()
  return renderApp(address)
}

const nameField = () => screen.findByRole<HTMLInputElement>('textbox', { name: 'Name' })

async function rename(name: string): Promise<void> {
  const field = await nameField()
  await userEvent.clear(field)
  await userEvent.type(field, name)
}

describe('drafts', () => {
  it.each([
    ['a segment', SEGMENT_PAGE],
    ['the settings of a flag', SETTINGS],
  ])('The draft of %s survives a reload.', async (_, address) => {
    load(address)
    await rename('My name')
    load(address)
    expect((await nameField()).value).toBe('My name')
    await screen.findByRole('region', { name: 'Unsaved changes' })
    expect(document.title).toMatch(/^●/)
  })

  it('A new variation of a flag survives a reload.', async () => {
    load(VARIATIONS)
    await userEvent.click(await screen.findByRole('button', { name: 'Add a variation' }))
    await userEvent.type(await screen.findByRole('textbox', { name: 'Key' }), 'maybe')
    load(VARIATIONS)
    expect((await screen.findByRole<HTMLInputElement>('textbox', { name: 'Key' })).value).toBe(
      'maybe',
    )
    await screen.findByRole('tab', { name: 'Variations changed' })
    await screen.findByRole('tab', { name: 'Settings' })
  })

  it.each([
    ['a segment', SEGMENT_PAGE],
    ['the settings of a flag', SETTINGS],
  ])('The draft of %s is never shown to another user.', async (_, address) => {
    load(address)
    const before = (await nameField()).value
    await rename('My name')
    shop.userId = 'user-2'
    load(address)
    expect((await nameField()).value).toBe(before)
    expect(sessionStorage.length).toBe(0)
  })

  it.each([
    ['a segment', SEGMENT_PAGE],
    ['the settings of a flag', SETTINGS],
  ])('The draft of %s is removed by a log-out.', async (_, address) => {
    const { session } = load(address)
    await rename('My name')
    expect(sessionStorage.length).toBe(1)
    await session.logOut()
    expect(sessionStorage.length).toBe(0)
  })

  it('A value that was changed elsewhere in the meantime is named before it is replaced.', async () => {
    load(SETTINGS)
    await rename('My name')
    shop.flag = { ...shop.flag, name: 'Their name', revision: 2 }
    load(SETTINGS)
    const alert = await screen.findByText(/^Changed elsewhere since you began: name\./)
    expect(alert.getAttribute('role')).toBe('alert')
    expect((await nameField()).value).toBe('My name')
  })

  it('The draft of a segment keeps the revision from which it started.', async () => {
    load(SEGMENT_PAGE)
    await rename('My name')
    shop.segment = { ...shop.segment, description: 'Theirs', revision: 2 }
    load(SEGMENT_PAGE)
    await screen.findByText('This segment was changed elsewhere.')
    expect((await nameField()).value).toBe('My name')
    await userEvent.click(
      screen.getByRole('button', { name: 'Apply my changes to the newer version' }),
    )
    const description = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Description' })
    await waitFor(() => expect(description.value).toBe('Theirs'))
    expect((await nameField()).value).toBe('My name')
  })
})
