import { screen, within } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PROJECT } from '../../test/fake-server.ts'
import { FakeShop, FLAG } from '../../test/fake-shop.ts'
import { leaveApp, renderApp } from '../../test/render-app.tsx'
import { messages } from '../messages/messages.ts'

const { publishing: texts } = messages

let shop: FakeShop

beforeEach(() => {
  shop = new FakeShop()
})
afterEach(leaveApp)

/** Opens the review of a draft with a new rule. */
async function openReview() {
  renderApp(`/p/${PROJECT}/flags/${FLAG}?env=live`)
  await screen.findByText('Customers')
  await userEvent.click(screen.getByRole('button', { name: 'Add a rule' }))
  await userEvent.click(await screen.findByRole('button', { name: texts.bar.review }))
  return within(await screen.findByRole('dialog'))
}

it('A review names the flag and its production environment.', async () => {
  const dialog = await openReview()
  dialog.getByText('Checkout')
  dialog.getByText(messages.components.production)
  expect(dialog.queryByText(texts.review.isOff('Live'))).toBeNull()
})

it('A review says that the flag is off.', async () => {
  const { configuration } = shop
  shop.configuration = { ...configuration, state: { ...configuration.state, is_active: false } }
  const dialog = await openReview()
  dialog.getByText(texts.review.isOff('Live'))
})
