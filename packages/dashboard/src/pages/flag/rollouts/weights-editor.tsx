import { X } from 'lucide-react'
import { Button } from '../../../components/button.tsx'
import type { Option } from '../../../components/select.tsx'
import { Select } from '../../../components/select.tsx'
import { VariationChip } from '../../../components/variation-chip.tsx'
import type { Rollout } from '../../../draft/configuration.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { useEditing } from '../editing/editing.ts'
import { variationOptions } from '../editing/variation-select.tsx'
import { PercentField } from './percentage-editor.tsx'
import type { RolloutPartProps } from './rollout-part.ts'
import styles from './rollouts.module.css'
import { endOf, equalWeights, rounded } from './weights.ts'
import { WeightsBar } from './weights-bar.tsx'

const { rollout: texts } = targeting
type Variants = NonNullable<Rollout['variants']>

/** The variations of an experiment with their weights. */
export function WeightsEditor({ rollout, onChange, faultOf }: RolloutPartProps) {
  const { handle, names } = useEditing()
  const variants = rollout.variants ?? []
  const weights = variants.map(({ weight }) => weight)
  const total = variants.length === 0 ? 0 : endOf(weights, weights.length - 1)
  const shares = variants.map(({ variationId, weight }) => ({
    id: variationId,
    name: names.variation(variationId),
    index: Math.max(
      0,
      handle.flag.variations.findIndex(({ id }) => id === variationId),
    ),
    percent: weight,
  }))
  const setWeights = (next: readonly number[]) =>
    onChange({ variants: variants.map((each, at) => ({ ...each, weight: next[at] ?? 0 })) })
  const fault = faultOf('variants')
  const missing = variationOptions(handle.flag).filter(({ id }) => !isServed(variants, id))
  return (
    <>
      <WeightsBar shares={shares} onChange={setWeights} />
      <ul className={styles.weights}>
        {shares.map((share, at) => (
          <li key={share.id} className={styles.weight}>
            <VariationChip name={share.name} index={share.index} />
            <PercentField
              label={texts.weightOf(share.name)}
              isLabelHidden
              value={share.percent}
              onChange={(weight) =>
                setWeights(weights.map((each, place) => (place === at ? weight : each)))
              }
            />
            <Button
              variant="ghost"
              aria-label={texts.removeVariation(share.name)}
              onPress={() => onChange({ variants: variants.filter((_, each) => each !== at) })}
            >
              <X size={16} aria-hidden="true" />
            </Button>
          </li>
        ))}
      </ul>
      <WeightsActions
        missing={missing}
        onAdd={(variationId) =>
          onChange({
            variants: [...variants, { variationId, weight: rounded(Math.max(0, 100 - total)) }],
          })
        }
        onEqual={() => setWeights(equalWeights(variants.length))}
      />
      <p className={fault === undefined ? styles.hint : styles.fault}>
        {texts.total(total)}. {total < 100 && texts.rest(rounded(100 - total))} {fault}
      </p>
    </>
  )
}

interface WeightsActionsProps {
  readonly missing: readonly Option[]
  readonly onAdd: (id: string) => void
  readonly onEqual: () => void
}

function WeightsActions({ missing, onAdd, onEqual }: WeightsActionsProps) {
  return (
    <div className={styles.line}>
      {missing.length > 0 && (
        <Select
          label={texts.addVariation}
          placeholder={texts.addVariation}
          isLabelHidden
          options={missing}
          value={null}
          onChange={onAdd}
        />
      )}
      <Button variant="ghost" onPress={onEqual}>
        {texts.equal}
      </Button>
    </div>
  )
}

function isServed(variants: Variants, id: string): boolean {
  return variants.some(({ variationId }) => variationId === id)
}
