import { type Configuration, findById, isSame } from './configuration.ts'
import {
  type History,
  type HistoryStep,
  isHistoryStep,
  restoredHistory,
  startHistory,
  withEdit,
  withStep,
} from './history.ts'
import { type ConfigurationField, withResetField } from './reset-field.ts'
import { type RolloutEdit, withRolloutEdit } from './rollout-edits.ts'
import { type RuleEdit, withRuleEdit } from './rule-edits.ts'
import { type StateEdit, withStateEdit } from './state-edits.ts'

/** The draft of the configuration of a flag in one environment. */
export interface FlagDraft extends History<Configuration> {
  /** The `ETag` of `base`, for `If-Match`. */
  readonly etag: string
  /** The version of the environment in which `base` was read. `null` if it is unknown. */
  readonly version: number | null
}

/** An edit of a configuration. */
export type ConfigurationEdit = StateEdit | RuleEdit | RolloutEdit

export type { ConfigurationField } from './reset-field.ts'

/** An action on a draft. `rebase` continues the draft from a newer configuration. */
export type FlagDraftAction =
  | ConfigurationEdit
  | HistoryStep
  | { readonly type: 'resetField'; readonly field: ConfigurationField }
  | ({ readonly type: 'rebase'; readonly current: Configuration } & DraftStart)

/** The published configuration from which a draft starts. */
export interface DraftStart {
  readonly base: Configuration
  readonly etag: string
  readonly version: number | null
}

/** Returns a draft without changes. */
export function startFlagDraft({ base, etag, version }: DraftStart): FlagDraft {
  return { ...startHistory(base), etag, version }
}

/**
 * Returns the reducer of drafts. An action that changes nothing returns the same draft. `newId`
 * returns a UUID; it is called at most once per action, for a new rule or rollout whose action has
 * no `id`. With such an `id`, the reducer is pure.
 */
export function flagDraftReducer(newId: () => string) {
  return (draft: FlagDraft, action: FlagDraftAction): FlagDraft => {
    if (isHistoryStep(action)) return withStep<Configuration, FlagDraft>(draft, action)
    if (action.type === 'rebase') {
      const { base, current, etag, version } = action
      return { ...restoredHistory(base, current), etag, version }
    }
    const next =
      action.type === 'resetField'
        ? withResetField(draft.base, draft.current, action.field)
        : withConfigurationEdit(draft.current, action, newId)
    const field = action.type === 'resetField' ? null : typedField(action)
    return withEdit<Configuration, FlagDraft>(draft, next, field)
  }
}

/** Returns a configuration after an edit. */
export function withConfigurationEdit(
  configuration: Configuration,
  edit: ConfigurationEdit,
  newId: () => string,
): Configuration {
  if (edit.type === 'setRollout' || edit.type === 'setStrategy') {
    return withRolloutEdit(configuration, edit)
  }
  if (isStateEdit(edit)) {
    return { ...configuration, state: withStateEdit(configuration.state, edit) }
  }
  return withRuleEdit(configuration, edit, newId)
}

const STATE_EDITS: readonly string[] = [
  'setActive',
  'setDefaultVariation',
  'setOffVariation',
  'setTargetKeys',
  'addTargetKeys',
  'removeTargetKeys',
  'setPrerequisite',
  'removePrerequisite',
] satisfies readonly StateEdit['type'][]

function isStateEdit(edit: ConfigurationEdit): edit is StateEdit {
  return STATE_EDITS.includes(edit.type)
}

/** Returns the field in which the user types. `null` if an edit is a step of its own. */
function typedField(edit: ConfigurationEdit): string | null {
  switch (edit.type) {
    case 'renameRule':
      return JSON.stringify([edit.type, edit.ruleId])
    case 'setCondition':
      return JSON.stringify([edit.type, edit.ruleId, edit.index, Object.keys(edit.changes)])
    case 'setRollout':
      return JSON.stringify([edit.type, edit.rolloutId, Object.keys(edit.changes)])
    case 'setTargetKeys':
      return JSON.stringify([edit.type, edit.kind, edit.variationId])
    default:
      return null
  }
}

/** Returns `true` if a field of a draft differs from its base. */
export function isFieldChanged({ base, current }: FlagDraft, field: ConfigurationField): boolean {
  return !isSame(fieldValue(base, field), fieldValue(current, field))
}

function fieldValue(configuration: Configuration, field: ConfigurationField): unknown {
  if (field.part === 'state') return configuration.state[field.field]
  if (field.part === 'order') return configuration.targetingRules.map(({ id }) => id)
  const [rule, rollout] = [
    field.part === 'rule' ? findById(configuration.targetingRules, field.id) : undefined,
    field.part === 'rollout' ? findById(configuration.rollouts, field.id) : undefined,
  ]
  if (field.part === 'rule') return field.field === undefined ? rule : rule?.[field.field]
  return field.field === undefined ? rollout : rollout?.[field.field]
}
