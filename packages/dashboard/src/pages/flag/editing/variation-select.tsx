import type { FlagView } from '@ff/protocol/management'
import { type Option, Select } from '../../../components/select.tsx'
import { useEditing } from './editing.ts'

/** The properties of `VariationSelect`. */
export interface VariationSelectProps {
  readonly label: string
  readonly value: string | null
  readonly onChange: (id: string | null) => void
  /** The name of the choice of no variation; without it, there is no such choice. */
  readonly none?: string
  readonly isLabelHidden?: boolean
  /** Choices after the variations. */
  readonly others?: readonly Option[]
}

const NONE = ''

/** A select of the variations of the flag. */
export function VariationSelect(props: VariationSelectProps) {
  const { handle, refusal } = useEditing()
  const { flag } = handle
  const { label, value, onChange, none, isLabelHidden = false, others = [] } = props
  const options = [
    ...(none === undefined ? [] : [{ id: NONE, name: none }]),
    ...variationOptions(flag),
    ...others,
  ]
  return (
    <Select
      label={label}
      isLabelHidden={isLabelHidden}
      options={options}
      isDisabled={refusal !== undefined}
      value={value ?? (none === undefined ? null : NONE)}
      onChange={(id) => onChange(id === NONE ? null : id)}
    />
  )
}

/** Returns the variations of a flag as options. */
export function variationOptions({ variations }: Pick<FlagView, 'variations'>): Option[] {
  return variations.map(({ id, key, name }) => {
    return { id, name: name === key || name === '' ? key : `${key} · ${name}` }
  })
}
