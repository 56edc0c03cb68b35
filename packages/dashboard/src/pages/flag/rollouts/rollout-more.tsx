import { BUCKETING_SCHEMES } from '@ff/protocol/management'
import { useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { ComboBox } from '../../../components/combo-box.tsx'
import { Select } from '../../../components/select.tsx'
import { TextField } from '../../../components/text-field.tsx'
import { findById } from '../../../draft/configuration.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { useEditing } from '../editing/editing.ts'
import type { RolloutPartProps } from './rollout-part.ts'
import styles from './rollouts.module.css'

const { rollout: texts } = targeting
const SCHEMES = BUCKETING_SCHEMES.map((id) => ({ id, name: id }))

/** The fields of a rollout that are rarely changed: name, attribute, salt and scheme. */
export function RolloutMore(props: RolloutPartProps) {
  const { attributes } = useEditing()
  const { rollout, onChange, faultOf } = props
  const options = attributes.map((name) => ({ id: name, name }))
  return (
    <details className={styles.more}>
      <summary>{texts.more}</summary>
      <div className={styles.fields}>
        <TextField
          label={texts.name}
          value={rollout.name}
          onChange={(name) => onChange({ name })}
          error={faultOf('name')}
        />
        <div>
          <ComboBox
            label={texts.attribute}
            allowsOther
            options={options}
            value={rollout.bucketBy}
            onChange={(bucketBy) => onChange({ bucketBy })}
            error={faultOf('bucketBy')}
          />
          <p className={styles.hint}>{texts.attributeHint}</p>
        </div>
        <SaltField {...props} />
        <Select
          label={texts.scheme}
          options={SCHEMES}
          value={rollout.scheme}
          onChange={(scheme) => onChange({ scheme })}
        />
      </div>
    </details>
  )
}

/** The salt. Changing the salt of a published rollout needs a second click. */
function SaltField({ rollout, onChange, faultOf }: RolloutPartProps) {
  const { handle } = useEditing()
  const [step, setStep] = useState<'shown' | 'warned' | 'open'>('shown')
  const isNew = findById(handle.draft.base.rollouts, rollout.id) === undefined
  const isOpen = isNew || step === 'open'
  return (
    <div className={styles.salt}>
      <TextField
        label={texts.salt}
        isMonospace
        isReadOnly={!isOpen}
        value={rollout.salt}
        onChange={(salt) => onChange({ salt })}
        hint={isNew && rollout.salt === '' ? texts.saltEmpty : undefined}
        error={faultOf('salt')}
      />
      {!isOpen && step === 'shown' && (
        <Button onPress={() => setStep('warned')}>{texts.changeSalt}</Button>
      )}
      {!isOpen && step === 'warned' && (
        <div role="alert" className={styles.warning}>
          <p>{texts.saltWarning}</p>
          <Button variant="danger" onPress={() => setStep('open')}>
            {texts.changeSaltAnyway}
          </Button>
        </div>
      )}
    </div>
  )
}
