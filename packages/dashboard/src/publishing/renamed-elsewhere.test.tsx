import { screen, within } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PROJECT } from '../../test/fake-server.ts'
import { FakeShop, FLAG } from '../../test/fake-shop.ts'
import { leaveApp, renderApp } from '../../test/render-app.tsx'
import { messages } from '../messages/messages.ts'

const { publishing: texts } = messages

let shop: FakeShop

beforeEach(async () => {
  shop = new FakeShop()
  renderApp(`/p/${PROJECT}/flags/${FLAG}?env=live`)
  await screen.findByText('Customers')
})
afterEach(leaveApp)

/** Adds a rule, so that the page has a draft with changes. */
async function addRule(): Promise<void> {
  await userEvent.click(screen.getByRole('button', { name: 'Add a rule' }))
  await screen.findByRole('button', { name: texts.bar.review })
}

/** Returns the requests that publish; those that check a draft have no key. */
const publishes = () => shop.changes.filter(({ headers }) => headers.has('Idempotency-Key'))

it('A rule that another editor renames has its new name in an open page.', async () => {
  shop.renameRule('Paying customers')
  await screen.findByText('Paying customers')
  expect(screen.queryByText('Customers')).toBeNull()
})

it('A rule that another editor renames has its new name in a draft, which is published with the new ETag.', async () => {
  await addRule()
  shop.renameRule('Paying customers')
  await screen.findByText('Paying customers')
  await screen.findAllByText(texts.conflict.renamed)
  expect(screen.queryByText(texts.conflict.bannerHint)).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: texts.bar.review }))
  await userEvent.click(await screen.findByRole('button', { name: texts.review.publish('Live') }))
  await expect.poll(() => publishes().length).toBe(1)
  expect(publishes()[0]?.headers.get('If-Match')).toBe('"2"')
})

it('A publish that is refused because of a new name says so, and can be repeated with the new ETag.', async () => {
  await addRule()
  await userEvent.click(screen.getByRole('button', { name: texts.bar.review }))
  shop.isStreaming = false
  shop.renameRule('Paying customers')
  await userEvent.click(await screen.findByRole('button', { name: texts.review.publish('Live') }))
  await screen.findAllByText(texts.conflict.notPublished)
  await userEvent.click(screen.getByRole('button', { name: texts.bar.review }))
  await userEvent.click(await screen.findByRole('button', { name: texts.review.publish('Live') }))
  await expect.poll(() => publishes().length).toBe(2)
  expect(publishes().map(({ headers }) => headers.get('If-Match'))).toEqual(['"1"', '"2"'])
})

it('A rule that another editor renames during a review is published with the new ETag.', async () => {
  await addRule()
  await userEvent.click(screen.getByRole('button', { name: texts.bar.review }))
  const dialog = within(await screen.findByRole('dialog'))
  shop.renameRule('Paying customers')
  await screen.findByText('Paying customers')
  await userEvent.click(dialog.getByRole('button', { name: texts.review.publish('Live') }))
  await expect.poll(() => publishes().length).toBe(1)
  expect(publishes()[0]?.headers.get('If-Match')).toBe('"2"')
})
