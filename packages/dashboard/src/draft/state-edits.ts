import type { ConfigurationState, Target } from './configuration.ts'

interface TargetKeys {
  readonly kind: string
  readonly variationId: string
  readonly keys: readonly string[]
}

/** An edit of the state of a configuration. */
export type StateEdit =
  | { readonly type: 'setActive'; readonly isActive: boolean }
  | { readonly type: 'setDefaultVariation'; readonly variationId: string | null }
  | { readonly type: 'setOffVariation'; readonly variationId: string | null }
  | ({ readonly type: 'setTargetKeys' | 'addTargetKeys' | 'removeTargetKeys' } & TargetKeys)
  | {
      readonly type: 'setPrerequisite'
      readonly flagId: string
      readonly variationIds: readonly string[]
    }
  | { readonly type: 'removePrerequisite'; readonly flagId: string }

type TargetEdit = Extract<StateEdit, TargetKeys>

/** Returns a state after an edit. A key that is added to a variation leaves the other variations. */
export function withStateEdit(state: ConfigurationState, edit: StateEdit): ConfigurationState {
  switch (edit.type) {
    case 'setActive':
      return { ...state, isActive: edit.isActive }
    case 'setDefaultVariation':
      return { ...state, defaultVariationId: edit.variationId }
    case 'setOffVariation':
      return { ...state, offVariationId: edit.variationId }
    case 'setPrerequisite':
    case 'removePrerequisite':
      return { ...state, prerequisites: changedPrerequisites(state.prerequisites, edit) }
    default:
      return { ...state, targets: changedTargets(state.targets, edit) }
  }
}

function changedPrerequisites(
  prerequisites: ConfigurationState['prerequisites'],
  edit: Extract<StateEdit, { type: 'setPrerequisite' | 'removePrerequisite' }>,
): ConfigurationState['prerequisites'] {
  const { flagId } = edit
  if (edit.type === 'removePrerequisite') {
    return prerequisites.filter((each) => each.flagId !== flagId)
  }
  const entry = { flagId, variationIds: [...edit.variationIds] }
  const isKnown = prerequisites.some((each) => each.flagId === flagId)
  if (!isKnown) return [...prerequisites, entry]
  return prerequisites.map((each) => (each.flagId === flagId ? entry : each))
}

function changedTargets(targets: readonly Target[], edit: TargetEdit): Target[] {
  const isEdited = ({ kind, variationId }: Target) =>
    kind === edit.kind && variationId === edit.variationId
  const taken = new Set(edit.type === 'removeTargetKeys' ? [] : edit.keys)
  const present = targets.find(isEdited) ?? { ...edit, keys: [] }
  const { kind, variationId } = present
  const entry = { kind, variationId, keys: keysAfter(present.keys, edit) }
  const isKnown = targets.some(isEdited)
  return (isKnown ? targets : [...targets, entry])
    .map((target) => {
      if (isEdited(target)) return entry
      if (target.kind !== edit.kind) return target
      return { ...target, keys: target.keys.filter((key) => !taken.has(key)) }
    })
    .filter(({ keys }) => keys.length > 0)
}

function keysAfter(keys: readonly string[], edit: TargetEdit): string[] {
  if (edit.type === 'setTargetKeys') return [...new Set(edit.keys)]
  if (edit.type === 'addTargetKeys') return [...new Set([...keys, ...edit.keys])]
  const removed = new Set(edit.keys)
  return keys.filter((key) => !removed.has(key))
}
