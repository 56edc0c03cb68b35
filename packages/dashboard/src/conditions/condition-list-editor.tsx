import type { Condition } from '@ff/protocol/management'
import type { FieldIssue } from '../api/api-error.ts'
import type { Option } from '../components/select.tsx'
import { ConditionEditor } from './condition-editor.tsx'

/** The properties of `ConditionListEditor`. */
export interface ConditionListEditorProps {
  readonly conditions: readonly Condition[]
  readonly onChange: (index: number, changes: Partial<Condition>) => void
  readonly onRemove: (index: number) => void
  /** The attributes to suggest. */
  readonly suggestions: readonly string[]
  readonly segments: readonly Option[]
  /** The faults whose paths begin with the position of the condition, such as `0.value`. */
  readonly issues: readonly FieldIssue[]
}

/** The editors of a list of conditions. */
export function ConditionListEditor(props: ConditionListEditorProps) {
  const { conditions, onChange, onRemove, suggestions, segments, issues } = props
  const items = conditions.map((condition, at) => ({ condition, at, key: `condition ${at}` }))
  const faultOf = (at: number, field: keyof Condition) => {
    const paths = field === 'value' ? [`${at}.value`, `${at}`] : [`${at}.${field}`]
    return issues.find(({ path }) => paths.includes(path))?.message
  }
  return items.map(({ condition, at, key }) => (
    <ConditionEditor
      key={key}
      condition={condition}
      index={at}
      onChange={(changes) => onChange(at, changes)}
      onRemove={() => onRemove(at)}
      attributes={suggestions}
      segments={segments}
      faultOf={(field) => faultOf(at, field)}
    />
  ))
}
