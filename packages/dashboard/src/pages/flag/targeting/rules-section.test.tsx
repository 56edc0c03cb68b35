import type { Environment, FlagView } from '@ff/protocol/management'
import { cleanup, render, screen, within } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { useState, useSyncExternalStore } from 'react'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { Configuration } from '../../../draft/configuration.ts'
import type { FlagDraftAction } from '../../../draft/flag-draft.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { createDraftStorage } from '../../../user-drafts/draft-storage.ts'
import { FlagDraftStore } from '../../../user-drafts/flag-draft-store.ts'
import { EditingContext } from '../editing/editing.ts'
import { loadRuleEditor } from './rule-card.tsx'
import { loadRuleList, RulesSection } from './rules-section.tsx'

const place = { environmentId: 'live', flagId: 'checkout' }
const flag = {
  id: 'checkout',
  variations: [
    { id: 'v1', key: 'true', name: 'On' },
    { id: 'v2', key: 'false', name: 'Off' },
  ],
} as unknown as FlagView

const rule = (id: string) => ({
  ...({ id, name: `Rule ${id}`, kind: 'custom', segmentId: null, rolloutId: null } as const),
  conditions: [{ attribute: 'plan', operator: 'eq', value: id }],
  variationId: 'v1',
})
const base: Configuration = {
  state: {
    ...{ isActive: true, defaultVariationId: null, offVariationId: null },
    ...{ targets: [], prerequisites: [] },
  },
  targetingRules: [rule('a'), rule('b'), rule('c')],
  rollouts: [],
  revision: 1,
}

beforeAll(async () => {
  await loadRuleList()
  await loadRuleEditor()
})

afterEach(() => {
  cleanup()
  vi.restoreAllMocks()
  sessionStorage.clear()
})

function renderRules() {
  let count = 0
  const storage = createDraftStorage(sessionStorage, 'ada')
  const store = new FlagDraftStore(storage, () => `new-${++count}`)
  store.receive(place, { base, etag: '"1"', version: null })
  render(<Host store={store} />)
  return { store, user: userEvent.setup(), current: () => store.draftOf(place)?.current }
}

function Host({ store }: { readonly store: FlagDraftStore }) {
  const draft = useSyncExternalStore(store.subscribe, () => store.draftOf(place))
  const [openId, setOpenId] = useState<string>()
  if (draft === undefined) return null
  const handle = {
    ...{ flag, environment: { id: 'live' } as Environment, draft, isChanged: true },
    dispatch: (action: FlagDraftAction) => store.dispatch(place, action),
    replace: () => undefined,
    discard: () => undefined,
  }
  const names = { variation: (id: string) => id, segment: (id: string) => id, flag: () => '' }
  const lists = { issues: [], warnings: [], segments: [], attributes: ['plan'] }
  return (
    <EditingContext value={{ handle, names, ...lists, refusal: undefined, now: 0 }}>
      <RulesSection openId={openId} onOpen={setOpenId} />
    </EditingContext>
  )
}

it('The caret stays where the user types in a text field of an open rule', async () => {
  const { user, current } = renderRules()
  await user.click(await screen.findByRole('button', { name: 'Edit the rule Rule b' }))
  const name = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Name' })
  await user.click(name)
  await user.keyboard('{Home}My own ')
  expect(name.value).toBe('My own Rule b')
  expect(current()?.targetingRules[1]?.name).toBe('My own Rule b')
})

it('An open rule closes in a browser whose scroll methods return promises', async () => {
  vi.spyOn(Element.prototype, 'scrollIntoView').mockImplementation(
    () => Promise.resolve() as unknown as undefined,
  )
  const { user } = renderRules()
  await user.click(await screen.findByRole('button', { name: 'Edit the rule Rule b' }))
  await screen.findByRole('textbox', { name: 'Name' })
  expect(cleanup).not.toThrow()
})

it('Alt and an arrow move a rule, and the new position is announced', async () => {
  const { user, current } = renderRules()
  const rows = await screen.findAllByRole('row')
  rows[2]?.focus()
  await user.keyboard('{Alt>}{ArrowUp}{/Alt}')
  expect(current()?.targetingRules.map(({ id }) => id)).toEqual(['a', 'c', 'b'])
  expect(screen.getByText('Rule c is now rule 2.')).toBeDefined()
})

it('A new rule is opened, and the keys on its slider are one step of undo', async () => {
  const { user, store, current } = renderRules()
  await user.click(screen.getByRole('button', { name: 'Add a rule' }))
  const editor = await screen.findByRole('group', { name: 'Edit the rule Rule 4' })
  await user.click(within(editor).getByRole('button', { name: /Serve/ }))
  await user.click(await screen.findByRole('option', { name: targeting.rules.rollout }))
  expect(current()?.rollouts).toMatchObject([{ id: 'new-2', variationId: 'v1', percentage: 0 }])
  const share = await within(editor).findByRole('slider', { name: 'Share of v1' })
  share.focus()
  await user.keyboard('{PageUp}{PageUp}')
  expect(current()?.rollouts[0]?.percentage).toBe(20)
  store.dispatch(place, { type: 'undo' })
  expect(current()?.rollouts[0]?.percentage).toBe(0)
})
