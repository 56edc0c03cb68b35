import type { FlagView } from '@ff/protocol/management'
import { randomId } from '../../../api/random-id.ts'
import { Button } from '../../../components/button.tsx'
import type { VariationFields } from '../../../draft/flag-edits.ts'
import { fields as texts } from '../../../messages/en/fields.ts'
import { useMay } from '../../../session/use-session.ts'
import styles from '../fields/fields.module.css'
import { SaveBar } from '../fields/save-bar.tsx'
import { useFlagFields } from '../fields/use-flag-fields.ts'
import { VariationCard } from './variation-card.tsx'
import type { VariationFaults } from './variation-faults.ts'
import { variationFault } from './variation-value.ts'

const { variations: words } = texts
const MOST_VARIATIONS = 100

/** The properties of `VariationsTab`. */
export interface VariationsTabProps {
  readonly flag: FlagView
  /** The `ETag` of `flag`. */
  readonly flagEtag: string | undefined
}

/** The variations of a flag, which are the same in all environments. */
export function VariationsTab({ flag, flagEtag }: VariationsTabProps) {
  const fields = useFlagFields(flag, flagEtag)
  const may = useMay('flags.write')
  const { variations } = fields.draft.current
  const faults = variations.map((each) => faultsOf(flag, variations, each))
  const add = () => fields.dispatch({ type: 'addVariation', variation: newVariation(flag) })
  const isFaulty = faults.some(({ key, value }) => (key ?? value) !== undefined)
  return (
    <div className={styles.form}>
      {variations.map((variation, index) => (
        <VariationCard
          key={variation.id}
          flag={flag}
          fields={fields}
          variation={variation}
          index={index}
          faults={faults[index] ?? {}}
        />
      ))}
      <div>
        <Button
          onPress={add}
          disabledReason={may.reason}
          isDisabled={variations.length >= MOST_VARIATIONS}
        >
          {words.add}
        </Button>
      </div>
      <SaveBar fields={fields} fault={isFaulty ? words.faulty : undefined} />
    </div>
  )
}

function faultsOf(
  flag: FlagView,
  all: readonly VariationFields[],
  { id, key, value }: VariationFields,
): VariationFaults {
  const isTaken = all.some((other) => other.id !== id && other.key === key)
  const taken = isTaken ? words.faults.key : undefined
  return {
    key: key === '' ? words.faults.keyRequired : taken,
    value: variationFault(flag.type, value),
  }
}

const START_VALUES = { boolean: 'true', string: '', number: '0', json: '{}' } as const

function newVariation({ type }: FlagView): VariationFields {
  const fields = { key: '', name: '', description: '', isDefault: false }
  return { id: randomId(), ...fields, value: START_VALUES[type] }
}
