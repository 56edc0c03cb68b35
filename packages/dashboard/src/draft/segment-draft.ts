import type { Condition, Segment, SegmentChanges, SegmentKeys } from '@ff/protocol/management'
import { isSame } from './configuration.ts'
import {
  type History,
  type HistoryStep,
  isHistoryStep,
  startHistory,
  withEdit,
  withStep,
} from './history.ts'
import { changedConditions } from './rule-edits.ts'

/** The keys that a draft adds to and removes from a list of a segment. */
export interface KeyChanges {
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

type SettingName = 'name' | 'description' | 'rules' | 'logicalOp' | 'force' | 'keyAttribute'

/** The fields of a segment that a draft can change. */
export interface SegmentFields extends Pick<Segment, SettingName> {
  readonly included: KeyChanges
  readonly excluded: KeyChanges
}

/** The draft of a segment. */
export interface SegmentDraft extends History<SegmentFields> {
  /** The revision of the segment from which the draft started. */
  readonly revision: number
}

/** An edit of a segment. */
export type SegmentEdit =
  | { readonly type: 'setSegment'; readonly changes: Partial<Pick<Segment, SettingName>> }
  | { readonly type: 'addCondition'; readonly condition: Condition }
  | { readonly type: 'setCondition'; readonly index: number; readonly changes: Partial<Condition> }
  | { readonly type: 'removeCondition'; readonly index: number }
  | {
      readonly type: 'addKeys'
      readonly list: SegmentKeys['list']
      readonly keys: readonly string[]
    }
  | {
      readonly type: 'removeKeys'
      readonly list: SegmentKeys['list']
      readonly keys: readonly string[]
    }

/** An action on the draft of a segment. */
export type SegmentDraftAction =
  | SegmentEdit
  | HistoryStep
  | { readonly type: 'resetField'; readonly field: keyof SegmentFields }

const NO_KEYS: KeyChanges = { add: [], remove: [] }

/** Returns a draft of a segment without changes. */
export function startSegmentDraft(segment: Segment): SegmentDraft {
  const { name, description, rules, logicalOp, force, keyAttribute, revision } = segment
  const settings = { name, description, rules, logicalOp, force, keyAttribute }
  return { ...startHistory({ ...settings, included: NO_KEYS, excluded: NO_KEYS }), revision }
}

/** Returns a draft after an action. An action that changes nothing returns the same draft. */
export function reduceSegmentDraft(draft: SegmentDraft, action: SegmentDraftAction): SegmentDraft {
  if (isHistoryStep(action)) return withStep<SegmentFields, SegmentDraft>(draft, action)
  if (action.type === 'resetField') {
    const reset = { ...draft.current, [action.field]: draft.base[action.field] }
    return withEdit<SegmentFields, SegmentDraft>(draft, reset, null)
  }
  return withEdit<SegmentFields, SegmentDraft>(
    draft,
    edited(draft.current, action),
    typedField(action),
  )
}

function edited(fields: SegmentFields, edit: SegmentEdit): SegmentFields {
  if (edit.type === 'setSegment') return { ...fields, ...edit.changes }
  if (edit.type === 'addKeys' || edit.type === 'removeKeys') {
    const { add, remove } = fields[edit.list]
    const keys = new Set(edit.keys)
    const added = edit.type === 'addKeys' ? [...add, ...edit.keys] : without(add, keys)
    const removed = edit.type === 'removeKeys' ? [...remove, ...edit.keys] : without(remove, keys)
    return { ...fields, [edit.list]: { add: [...new Set(added)], remove: [...new Set(removed)] } }
  }
  return { ...fields, rules: changedConditions(fields.rules, edit) }
}

function without(keys: readonly string[], removed: ReadonlySet<string>): readonly string[] {
  return keys.filter((key) => !removed.has(key))
}

function typedField(edit: SegmentEdit): string | null {
  if (edit.type === 'setSegment') return JSON.stringify([edit.type, Object.keys(edit.changes)])
  if (edit.type !== 'setCondition') return null
  return JSON.stringify([edit.type, edit.index, Object.keys(edit.changes)])
}

/** The requests that publish the draft of a segment. */
export interface SegmentRequests {
  /** The body of `updateSegment`. `null` if no field changed. */
  readonly update: SegmentChanges | null
  /** The bodies of `changeSegmentKeys`, each within the limits of keys and bytes of a request. */
  readonly keys: readonly SegmentKeys[]
}

const MAX_KEYS = 10_000
/** The maximum size of the keys in a request. A body has at most 1 MiB. */
const MAX_KEYS_BYTES = 1_000_000

/** Returns the requests that publish the draft of a segment. */
export function segmentRequests({ base, current }: SegmentDraft): SegmentRequests {
  const { included: _, excluded: __, ...settings } = current
  const changed = Object.entries(settings).filter(
    ([name, value]) => !isSame(value, base[name as SettingName]),
  )
  const keys = (['included', 'excluded'] as const).flatMap((list) => {
    const { add, remove } = current[list]
    return [
      ...chunks(remove).map((some) => ({ list, remove: some })),
      ...chunks(add).map((some) => ({ list, add: some })),
    ]
  })
  return { update: changed.length === 0 ? null : (Object.fromEntries(changed) as never), keys }
}

function chunks(keys: readonly string[]): string[][] {
  const encoder = new TextEncoder()
  const all: string[][] = []
  let bytes = 0
  for (const key of keys) {
    // The size in JSON, with the comma between two keys.
    const size = encoder.encode(JSON.stringify(key)).length + 1
    const last = all.at(-1)
    if (last === undefined || last.length === MAX_KEYS || bytes + size > MAX_KEYS_BYTES) {
      all.push([key])
      bytes = size
    } else {
      last.push(key)
      bytes += size
    }
  }
  return all
}
