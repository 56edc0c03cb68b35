import { screen, within } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { PROJECT } from '../../../../test/fake-server.ts'
import { FakeShop, FLAG } from '../../../../test/fake-shop.ts'
import { leaveApp, renderApp } from '../../../../test/render-app.tsx'
import { targeting } from '../../../messages/en/targeting.ts'
import { messages } from '../../../messages/messages.ts'
import { loadRuleEditor } from './rule-card.tsx'
import { loadRuleList } from './rules-section.tsx'

const { bar } = messages.publishing

beforeAll(async () => {
  await loadRuleList()
  await loadRuleEditor()
})

afterEach(leaveApp)

it('The default rule offers a rule for all contexts that serves 0 % of the other variation, as one step of undo', async () => {
  new FakeShop()
  renderApp(`/p/${PROJECT}/flags/${FLAG}?env=live`)
  await screen.findByText('Customers')
  await userEvent.click(screen.getByRole('button', { name: targeting.rollOut }))
  const name = targeting.rules.edit(targeting.rules.newName(2))
  const editor = within(await screen.findByRole('group', { name }))
  expect(editor.getByText(targeting.rules.everyone)).toBeDefined()
  const share = await editor.findByRole('slider', { name: 'Share of false' })
  expect(share.getAttribute('aria-valuenow')).toBe('0')
  await userEvent.click(screen.getByRole('button', { name: bar.undo }))
  expect(screen.getByText(bar.noChanges)).toBeDefined()
  expect(screen.queryByRole('group', { name })).toBeNull()
})
