import { cleanup, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ORG, PROJECT } from '../../../test/fake-server.ts'
import { ENVIRONMENT, FakeShop, FLAG } from '../../../test/fake-shop.ts'
import { renderApp } from '../../../test/render-app.tsx'
import { messages } from '../../messages/messages.ts'

const { history } = messages
const OTHER = '99999999-9999-4999-8999-999999999999'
const FLAG_HISTORY = `/p/${PROJECT}/flags/${FLAG}?env=live&tab=history`
const TIME = '2030-01-01T00:00:00.000Z'
const actor = { id: 'user-2', email: '', name: 'Grace', role: 'editor' }
const own = {
  ...{ flag_id: FLAG, environment_id: ENVIRONMENT, project_id: PROJECT },
  ...{ created_at: TIME, updated_at: TIME, deleted_at: null, revision: 1 },
}

let shop: FakeShop

beforeEach(() => {
  shop = new FakeShop()
  shop.versions = [version(3, FLAG), version(2, OTHER), version(1, FLAG)]
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function version(number: number, flagId: string) {
  return {
    ...{ version: number, published_at: TIME, event_id: `entry-${number}` },
    ...{ event_type: 'flag.configured', actor, segments: [] },
    flags: [{ id: flagId, key: `flag-${flagId.slice(0, 1)}` }],
  }
}

/** The audited configuration of the shop, with another state. */
function audited(changes: object) {
  const { state, targeting_rules: rules } = shop.configuration
  return {
    environment_id: ENVIRONMENT,
    state: { ...own, id: OTHER, ...state, ...changes },
    targeting_rules: rules.map((rule) => ({ ...own, order_index: 0, ...rule })),
    rollouts: [],
  }
}

function entry(number: number, payload: object) {
  return {
    ...{ id: `entry-${number}`, eventType: 'flag.configured', payload, created_at: TIME },
    ...{ stream_id: `flag:${FLAG}`, comment: null, org_id: ORG, project_id: PROJECT },
    ...{ actor_id: actor.id, actor, sequence: number, previous_hash: '', hash: '' },
  }
}

it('The history of a flag lists only the versions that changed it', async () => {
  renderApp(FLAG_HISTORY)
  await screen.findByRole('heading', { name: /Version 3/ })
  expect(screen.getAllByRole('heading', { name: /Version/ })).toHaveLength(2)
  expect(screen.queryByRole('heading', { name: /Version 2/ })).toBeNull()
})

it('A page of versions that did not change the flag says so', async () => {
  shop.versions = [version(2, OTHER)]
  renderApp(FLAG_HISTORY)
  await screen.findByText(history.emptyOfFlag)
})

it('A publish is told in words, and an entry without both configurations only by its event', async () => {
  const payload = { before: audited({}), after: audited({ is_active: false }) }
  shop.auditLog = [entry(3, payload), entry(1, { before: null, after: audited({}) })]
  renderApp(`/p/${PROJECT}/history?env=live`)
  const words = await screen.findByText('Switched off')
  expect(words.closest('li[class]')?.textContent).toContain('Version 3')
  expect(screen.getAllByText(/published a configuration/)).toHaveLength(3)
})
