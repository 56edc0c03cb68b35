import { NumberField } from '../../../components/number-field.tsx'
import { targeting } from '../../../messages/en/targeting.ts'
import { useEditing } from '../editing/editing.ts'
import { VariationSelect } from '../editing/variation-select.tsx'
import type { RolloutPartProps } from './rollout-part.ts'
import styles from './rollouts.module.css'
import { rounded } from './weights.ts'
import { WeightsBar } from './weights-bar.tsx'

const { rollout: texts } = targeting

/** The variation and the share of a percentage rollout. */
export function PercentageEditor({ rollout, onChange, faultOf }: RolloutPartProps) {
  const { handle, names } = useEditing()
  const { variationId, percentage } = rollout
  const index = handle.flag.variations.findIndex(({ id }) => id === variationId)
  const name = variationId === null ? '' : names.variation(variationId)
  const share = { id: variationId ?? '', name, index: Math.max(0, index), percent: percentage ?? 0 }
  return (
    <>
      <div className={styles.line}>
        <VariationSelect
          label={texts.variation}
          isLabelHidden
          value={variationId}
          onChange={(id) => onChange({ variationId: id })}
        />
        <div className={styles.number}>
          <PercentField
            label={texts.share}
            isLabelHidden
            value={percentage}
            onChange={(value) => onChange({ percentage: value })}
            error={faultOf('percentage') ?? faultOf('variationId')}
          />
        </div>
        <div className={styles.bar}>
          <WeightsBar
            shares={[share]}
            onChange={([weight = 0]) => onChange({ percentage: weight })}
          />
        </div>
      </div>
      <p className={styles.hint}>{texts.others}</p>
    </>
  )
}

/** The properties of `PercentField`. */
export interface PercentFieldProps {
  readonly label: string
  readonly value: number | null
  readonly onChange: (percentage: number) => void
  readonly isLabelHidden?: boolean
  readonly error?: string | undefined
}

/** A field for a percentage from 0 to 100, with a percent sign after it. */
export function PercentField({ value, onChange, ...rest }: PercentFieldProps) {
  return (
    <div className={styles.percent}>
      <NumberField
        {...rest}
        value={value}
        onChange={(next) => next !== undefined && onChange(rounded(next))}
        minValue={0}
        maxValue={100}
      />
      <span aria-hidden="true">%</span>
    </div>
  )
}
