import { findById } from '../../../draft/configuration.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { ChangedMark } from '../editing/changed-mark.tsx'
import { useEditing } from '../editing/editing.ts'
import { VariationSelect } from '../editing/variation-select.tsx'
import { Section } from './section.tsx'
import styles from './targeting.module.css'

/** The variation that everyone gets while the flag is off. */
export function OffVariation() {
  const { handle } = useEditing()
  const { offVariationId } = handle.draft.current.state
  return (
    <div className={styles.line}>
      <span>{targeting.offVariation}</span>
      <VariationSelect
        label={targeting.offVariation}
        isLabelHidden
        none={useDefaultName()}
        value={offVariationId}
        onChange={(variationId) => handle.dispatch({ type: 'setOffVariation', variationId })}
      />
      <ChangedMark
        fields={[{ part: 'state', field: 'offVariationId' }]}
        name={targeting.offVariation}
      />
    </div>
  )
}

/** The variation for contexts that no rule serves. */
export function DefaultRule() {
  const { handle } = useEditing()
  const { defaultVariationId } = handle.draft.current.state
  return (
    <Section
      title={targeting.defaultTitle}
      mark={
        <ChangedMark
          fields={[{ part: 'state', field: 'defaultVariationId' }]}
          name={targeting.defaultTitle}
        />
      }
    >
      <div className={styles.line}>
        <span>{targeting.defaultVariation}</span>
        <VariationSelect
          label={targeting.defaultVariation}
          isLabelHidden
          none={useDefaultName()}
          value={defaultVariationId}
          onChange={(variationId) => handle.dispatch({ type: 'setDefaultVariation', variationId })}
        />
      </div>
    </Section>
  )
}

function useDefaultName(): string {
  const { flag } = useEditing().handle
  const id = flag.variations.find(({ isDefault }) => isDefault)?.id ?? null
  return targeting.defaultOfFlag(findById(flag.variations, id)?.key ?? '')
}
