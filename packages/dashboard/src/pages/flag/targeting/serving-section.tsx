import type { FlagView } from '@ff/protocol/management'
import { randomId } from '../../../api/random-id.ts'
import { Button } from '../../../components/button.tsx'
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

/** The properties of `DefaultRule`. */
export interface DefaultRuleProps {
  /** Called after a rule for all contexts was added at the end of the rules. */
  readonly onRuleAdded: () => void
}

/** The variation for contexts that no rule serves. */
export function DefaultRule({ onRuleAdded }: DefaultRuleProps) {
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
      action={<RollOut onRuleAdded={onRuleAdded} />}
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

/** The button that adds a rule for all contexts, which serves 0 % of another variation at first. */
function RollOut({ onRuleAdded }: DefaultRuleProps) {
  const { handle, refusal } = useEditing()
  const { state, targetingRules } = handle.draft.current
  const served = state.defaultVariationId ?? defaultVariationOf(handle.flag)?.id
  const other = handle.flag.variations.find(({ id }) => id !== served)
  const add = () => {
    handle.dispatch({
      type: 'addRule',
      rule: { name: targeting.rules.newName(targetingRules.length + 1) },
      rollout: { id: randomId(), variationId: other?.id ?? null },
    })
    onRuleAdded()
  }
  return (
    <Button disabledReason={refusal} onPress={add}>
      {targeting.rollOut}
    </Button>
  )
}

function defaultVariationOf({ variations }: FlagView) {
  return variations.find(({ isDefault }) => isDefault)
}

function useDefaultName(): string {
  const { flag } = useEditing().handle
  return targeting.defaultOfFlag(defaultVariationOf(flag)?.key ?? '')
}
