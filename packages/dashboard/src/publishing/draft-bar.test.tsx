import { screen, within } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PROJECT } from '../../test/fake-server.ts'
import { FakeShop, FLAG } from '../../test/fake-shop.ts'
import { leaveApp, renderApp } from '../../test/render-app.tsx'
import { targeting } from '../messages/en/targeting.ts'
import { messages } from '../messages/messages.ts'

const { bar, review } = messages.publishing

let shop: FakeShop

beforeEach(async () => {
  shop = new FakeShop()
  renderApp(`/p/${PROJECT}/flags/${FLAG}?env=live`)
  await screen.findByText('Customers')
})
afterEach(leaveApp)

/** Adds a rule, and returns the bar of the draft. */
async function addRule() {
  await userEvent.click(screen.getByRole('button', { name: 'Add a rule' }))
  return within(await screen.findByRole('region', { name: bar.region }))
}

it('A draft whose only change is undone keeps its bar, in which the change can be redone', async () => {
  const draft = await addRule()
  expect(draft.getByRole<HTMLButtonElement>('button', { name: bar.redo }).disabled).toBe(true)
  await userEvent.click(draft.getByRole('button', { name: bar.undo }))
  expect(draft.getByText(bar.noChanges)).toBeDefined()
  expect(draft.queryByRole('button', { name: bar.review })).toBeNull()
  await userEvent.click(draft.getByRole('button', { name: bar.redo }))
  expect(draft.getByText(bar.changes(1))).toBeDefined()
})

it('The keys undo and redo as the buttons of the bar do', async () => {
  const draft = await addRule()
  await userEvent.keyboard('{Control>}z{/Control}')
  expect(draft.getByText(bar.noChanges)).toBeDefined()
  await userEvent.keyboard('{Control>}{Shift>}z{/Shift}{/Control}')
  expect(draft.getByText(bar.changes(1))).toBeDefined()
})

it('The list of shortcuts contains the keys that undo', async () => {
  await addRule()
  await userEvent.keyboard('?')
  const dialog = within(
    await screen.findByRole('dialog', { name: messages.shell.keyboardShortcuts }),
  )
  expect(dialog.getByText('Ctrl Z')).toBeDefined()
  expect(dialog.getByText(targeting.undoShortcut)).toBeDefined()
})

it('A page without edits has no bar', () => {
  expect(screen.queryByRole('region', { name: bar.region })).toBeNull()
  expect(screen.queryByRole('button', { name: bar.undo })).toBeNull()
})

it('A check of the draft that is in progress ends when the draft is published', async () => {
  shop.isSilent = true
  const draft = await addRule()
  const puts = () => shop.changes.filter(({ method }) => method === 'PUT')
  await expect.poll(() => puts().length).toBe(1)
  await userEvent.click(draft.getByRole('button', { name: bar.review }))
  await userEvent.click(await screen.findByRole('button', { name: review.publish('Live') }))
  await expect.poll(() => puts().map(({ signal }) => signal?.aborted)).toEqual([true, false])
})
