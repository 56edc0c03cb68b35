import type { Environment, FlagView } from '@ff/protocol/management'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { startFlagDraft } from '../../../draft/flag-draft.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { EditingContext } from '../editing/editing.ts'
import { SwitchSection } from './switch-section.tsx'

const variations = [{ id: 'v1', key: 'chat', name: 'Chat', isDefault: true }]
const flag = { id: 'support', key: 'support', name: 'Support', variations } as unknown as FlagView
const lists = { targets: [], prerequisites: [] }
const state = { isActive: false, defaultVariationId: null, offVariationId: null, ...lists }
const base = { state, targetingRules: [], rollouts: [], revision: 1 }

afterEach(cleanup)

function renderSection(isActive: boolean) {
  const current = { ...base, state: { ...state, isActive } }
  const draft = { ...startFlagDraft({ base, etag: '"1"', version: 1 }), current }
  const ignore = () => undefined
  const handle = {
    ...{ flag, environment: { id: 'live' } as Environment, draft, isChanged: isActive },
    ...{ dispatch: ignore, replace: ignore, discard: ignore },
  }
  const names = { variation: (id: string) => id, segment: (id: string) => id, flag: () => '' }
  const found = { issues: [], warnings: [], segments: [], attributes: [] }
  render(
    <EditingContext value={{ handle, names, ...found, refusal: undefined, now: 0 }}>
      <SwitchSection flagSwitch="off" />
    </EditingContext>,
  )
}

it('Beside the switch, the published state is shown, and what the draft does to it', () => {
  renderSection(true)
  expect(screen.getByText(/^Off/)).toBeDefined()
  expect(screen.getByText(targeting.draftSwitches(true))).toBeDefined()
})

it('A draft that does not change the switch is not mentioned beside it', () => {
  renderSection(false)
  expect(screen.queryByText(/Publishing the draft/)).toBeNull()
})
