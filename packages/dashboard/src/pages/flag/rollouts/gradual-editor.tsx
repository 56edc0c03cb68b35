import { DateTimeField, timeInZones } from '../../../components/fields/date-time-field.tsx'
import { NumberField } from '../../../components/number-field.tsx'
import { gradualSteps } from '../../../draft/rollout-moves.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { useEditing } from '../editing/editing.ts'
import { VariationSelect } from '../editing/variation-select.tsx'
import { GradualLine } from './gradual-line.tsx'
import { PercentField } from './percentage-editor.tsx'
import type { RolloutPartProps } from './rollout-part.ts'
import styles from './rollouts.module.css'

const { rollout: texts } = targeting

/** The variation, the steps and the start of a gradual rollout, with its steps as a line. */
export function GradualEditor({ rollout, onChange, faultOf }: RolloutPartProps) {
  const { now } = useEditing()
  const steps = gradualSteps(rollout, now)
  const last = steps.at(-1)
  return (
    <>
      <div className={styles.line}>
        <VariationSelect
          label={texts.variation}
          isLabelHidden
          value={rollout.variationId}
          onChange={(id) => onChange({ variationId: id })}
        />
      </div>
      <div className={styles.steps}>
        <PercentField
          label={texts.target}
          value={rollout.targetPercentage}
          onChange={(value) => onChange({ targetPercentage: value })}
          error={faultOf('targetPercentage') ?? faultOf('variationId')}
        />
        <PercentField
          label={texts.increment}
          value={rollout.increment}
          onChange={(value) => onChange({ increment: value })}
          error={faultOf('increment')}
        />
        <NumberField
          label={texts.interval}
          value={rollout.intervalHours}
          onChange={(value) => value !== undefined && onChange({ intervalHours: value })}
          minValue={0.01}
          maxValue={87_600}
          error={faultOf('intervalHours')}
        />
      </div>
      <DateTimeField
        label={texts.start}
        value={rollout.startAt ?? ''}
        onChange={(time) => onChange({ startAt: time === '' ? null : time })}
        error={faultOf('startAt')}
      />
      {rollout.startAt === null && <p className={styles.hint}>{texts.startNow}</p>}
      <GradualLine steps={steps} />
      {last !== undefined && (
        <p className={styles.hint}>
          {texts.ends(last.percentage, timeInZones(new Date(last.at).toISOString()))}
        </p>
      )}
    </>
  )
}
