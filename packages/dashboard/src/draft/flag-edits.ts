import type {
  FlagChanges,
  FlagView,
  NewVariation,
  Reorder,
  Variation,
  VariationChanges,
} from '@ff/protocol/management'
import { findById, isSame, withItem } from './configuration.ts'
import {
  type History,
  type HistoryStep,
  isHistoryStep,
  startHistory,
  withEdit,
  withStep,
} from './history.ts'

type SettingName = 'name' | 'description' | 'tags' | 'clientVisible'

/** A variation in a draft. The id of a new variation is not sent. */
export type VariationFields = Pick<
  Variation,
  'id' | 'key' | 'name' | 'description' | 'value' | 'isDefault'
>

/** The fields of a flag that are the same in all environments. */
export interface FlagFields extends Pick<FlagView, SettingName> {
  readonly variations: readonly VariationFields[]
}

/** The draft of the fields of a flag. */
export type FlagFieldsDraft = History<FlagFields>

/** An action on the draft of the fields of a flag. */
export type FlagFieldsAction =
  | HistoryStep
  | { readonly type: 'setFlag'; readonly changes: Partial<Pick<FlagView, SettingName>> }
  | { readonly type: 'addVariation'; readonly variation: VariationFields }
  | {
      readonly type: 'setVariation'
      readonly id: string
      readonly changes: Partial<Omit<VariationFields, 'id'>>
    }
  | { readonly type: 'removeVariation'; readonly id: string }
  | { readonly type: 'moveVariation'; readonly id: string; readonly index: number }
  | { readonly type: 'resetField'; readonly field: keyof FlagFields }

/** Returns a draft of the fields of a flag without changes. */
export function startFlagFieldsDraft(flag: FlagView): FlagFieldsDraft {
  const { name, description, tags, clientVisible } = flag
  const variations = flag.variations.map((each) => {
    const { id, key, value, isDefault } = each
    return { id, key, name: each.name, description: each.description, value, isDefault }
  })
  return startHistory({ name, description, tags, clientVisible, variations })
}

/** Returns a draft after an action. An action that changes nothing returns the same draft. */
export function reduceFlagFields(
  draft: FlagFieldsDraft,
  action: FlagFieldsAction,
): FlagFieldsDraft {
  if (isHistoryStep(action)) return withStep<FlagFields, FlagFieldsDraft>(draft, action)
  const { current, base } = draft
  if (action.type === 'resetField') {
    return withEdit(draft, { ...current, [action.field]: base[action.field] }, null)
  }
  if (action.type === 'setFlag') {
    const field = JSON.stringify(Object.keys(action.changes))
    return withEdit(draft, { ...current, ...action.changes }, field)
  }
  const isTyped = action.type === 'setVariation'
  const field = isTyped ? JSON.stringify([action.id, Object.keys(action.changes)]) : null
  return withEdit(draft, { ...current, variations: changed(current.variations, action) }, field)
}

type VariationAction = Extract<
  FlagFieldsAction,
  { type: 'addVariation' | 'setVariation' | 'removeVariation' | 'moveVariation' }
>

function changed(
  variations: readonly VariationFields[],
  action: VariationAction,
): readonly VariationFields[] {
  if (action.type === 'addVariation') {
    return withOneDefault([...variations, action.variation], action.variation)
  }
  if (action.type === 'removeVariation') return variations.filter(({ id }) => id !== action.id)
  if (action.type === 'moveVariation') {
    const moved = variations.filter(({ id }) => id === action.id)
    const others = variations.filter(({ id }) => id !== action.id)
    const index = Math.max(0, action.index)
    return [...others.slice(0, index), ...moved, ...others.slice(index)]
  }
  const edited = withItem(variations, action.id, (each) => ({ ...each, ...action.changes }))
  return withOneDefault(edited, { id: action.id, isDefault: action.changes.isDefault === true })
}

/** Returns the variations, in which no other one is the default if the edited one is. */
function withOneDefault(
  variations: readonly VariationFields[],
  edited: Pick<VariationFields, 'id' | 'isDefault'>,
): readonly VariationFields[] {
  if (!edited.isDefault) return variations
  return variations.map((each) => ({ ...each, isDefault: each.id === edited.id }))
}

/** The requests that save the draft of a flag's fields, in the order in which they are sent. */
export interface FlagRequests {
  /** The body of `updateFlag`. `null` if no field changed. */
  readonly update: FlagChanges | null
  readonly created: readonly NewVariation[]
  readonly changed: readonly { readonly id: string; readonly changes: VariationChanges }[]
  readonly deleted: readonly string[]
  /**
   * The keys of all variations in their new order, for `reorderBody`. `null` if the order did not
   * change.
   */
  readonly order: readonly string[] | null
}

/**
 * Returns the requests that save the draft of a flag's fields. A new variation with the key of a
 * removed one is a change of the removed one, because the key is not free before its deletion.
 */
export function flagRequests({ base, current }: FlagFieldsDraft): FlagRequests {
  const fields = ['name', 'description', 'tags', 'clientVisible'] as const
  const update = fields.filter((field) => !isSame(base[field], current[field]))
  const kept = current.variations.map((after) => ({ before: savedAs(base, current, after), after }))
  const savedIds = new Set(kept.map(({ before }) => before?.id))
  const created = kept.flatMap(({ before, after }) => (before === undefined ? [after] : []))
  const remaining = base.variations.filter(({ id }) => savedIds.has(id))
  const expected = [...remaining, ...created].map(({ key }) => key)
  const order = kept.map(({ before, after }) => (before ?? after).key)
  return {
    update: update.length === 0 ? null : Object.fromEntries(update.map((f) => [f, current[f]])),
    created: created.map(({ id: _, ...rest }) => rest),
    changed: kept.flatMap(({ before, after }) => changeOf(before, after)),
    deleted: base.variations.flatMap(({ id }) => (savedIds.has(id) ? [] : [id])),
    order: isSame(expected, order) ? null : order,
  }
}

/** Returns the saved variation that a variation of a draft changes. `undefined` if it is new. */
function savedAs(base: FlagFields, current: FlagFields, { id, key }: VariationFields) {
  const isRemoved = (each: VariationFields) => findById(current.variations, each.id) === undefined
  return (
    findById(base.variations, id) ??
    base.variations.find((each) => each.key === key && isRemoved(each))
  )
}

function changeOf(
  before: VariationFields | undefined,
  after: VariationFields,
): FlagRequests['changed'] {
  if (before === undefined) return []
  const fields = ['name', 'description', 'value', 'isDefault'] as const
  const changed = fields.filter((field) => before[field] !== after[field])
  // The previous default loses this role when another variation gets it, and only then.
  const sent = changed.filter((field) => field !== 'isDefault' || after.isDefault)
  const changes = Object.fromEntries(sent.map((field) => [field, after[field]]))
  return sent.length === 0 ? [] : [{ id: before.id, changes }]
}

/**
 * Returns the body of `reorderVariations`, which names variations by their ids. `variations` are
 * those of the flag after the other requests, so that new variations have their ids.
 */
export function reorderBody(
  order: readonly string[],
  variations: readonly Pick<Variation, 'id' | 'key'>[],
): Reorder {
  const ids = order.flatMap((key) => variations.find((each) => each.key === key)?.id ?? [])
  return { orders: ids.map((id, orderIndex) => ({ id, orderIndex })) }
}
