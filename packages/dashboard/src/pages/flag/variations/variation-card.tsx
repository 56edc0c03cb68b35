import type { FlagView } from '@ff/protocol/management'
import { ArrowDown, ArrowUp, Trash2 } from 'lucide-react'
import { Button } from '../../../components/button.tsx'
import { Checkbox } from '../../../components/checkbox.tsx'
import { TextField } from '../../../components/text-field.tsx'
import { VariationChip } from '../../../components/variation-chip.tsx'
import { findById, isSame } from '../../../draft/configuration.ts'
import type { VariationFields } from '../../../draft/flag-edits.ts'
import { fields as texts } from '../../../messages/en/fields.ts'
import { useMay } from '../../../session/use-session.ts'
import { classNames } from '../../../style/class-names.ts'
import styles from '../fields/fields.module.css'
import type { FlagFieldsHandle } from '../fields/use-flag-fields.ts'
import type { VariationFaults } from './variation-faults.ts'
import { VariationValue } from './variation-value-field.tsx'

const { variations: words } = texts

/** The properties of `VariationCard`. */
export interface VariationCardProps {
  readonly flag: FlagView
  readonly fields: FlagFieldsHandle
  readonly variation: VariationFields
  readonly index: number
  readonly faults: VariationFaults
}

/** A variation with its fields. The key of a saved variation cannot be changed. */
export function VariationCard(props: VariationCardProps) {
  const { flag, fields, variation, faults } = props
  const { id, key, name, value } = variation
  const saved = findById(fields.draft.base.variations, id)
  const may = useMay('flags.write')
  const change = (changes: Partial<Omit<VariationFields, 'id'>>) =>
    fields.dispatch({ type: 'setVariation', id, changes })
  const faultOf = (field: string) =>
    fields.failure?.issues.find(({ path }) => path === `${key}.${field}`)?.message
  const isReadOnly = !may.allowed
  return (
    <fieldset
      className={classNames(styles.card, !isSame(saved, variation) && styles.changed)}
      aria-label={key || words.newVariation}
    >
      <Head {...props} />
      <div className={styles.two}>
        {saved === undefined && (
          <TextField
            label={words.key}
            hint={words.keyHint}
            isMonospace
            value={key}
            onChange={(next) => change({ key: next, ...(name === key ? { name: next } : {}) })}
            error={faults.key ?? faultOf('key')}
          />
        )}
        <TextField
          label={words.name}
          value={name}
          isReadOnly={isReadOnly}
          onChange={(next) => change({ name: next })}
          error={faultOf('name')}
        />
      </div>
      <VariationValue
        type={flag.type}
        value={value}
        isReadOnly={isReadOnly}
        onChange={(next) => change({ value: next })}
        fault={faults.value ?? faultOf('value')}
      />
      <More {...props} change={change} faultOf={faultOf} />
    </fieldset>
  )
}

interface MoreProps extends VariationCardProps {
  readonly change: (changes: Partial<Omit<VariationFields, 'id'>>) => void
  readonly faultOf: (field: string) => string | undefined
}

function More({ variation, change, faultOf }: MoreProps) {
  const { description, isDefault } = variation
  const isReadOnly = !useMay('flags.write').allowed
  return (
    <>
      <details>
        <summary>{words.more}</summary>
        <TextField
          label={words.description}
          isMultiline
          value={description}
          isReadOnly={isReadOnly}
          onChange={(next) => change({ description: next })}
          error={faultOf('description')}
        />
      </details>
      <Checkbox
        isSelected={isDefault}
        isDisabled={isDefault || isReadOnly}
        onChange={() => change({ isDefault: true })}
      >
        {words.isDefault}
      </Checkbox>
      {isDefault && <p className={styles.hint}>{words.defaultHint}</p>}
    </>
  )
}

function Head({ fields, variation, index }: VariationCardProps) {
  const { id, key, isDefault } = variation
  const { allowed, reason } = useMay('flags.write')
  const count = fields.draft.current.variations.length
  const move = (to: number) => fields.dispatch({ type: 'moveVariation', id, index: to })
  return (
    <div className={styles.head}>
      <VariationChip name={key || words.newVariation} index={index} />
      <span className={styles.space} />
      <Button
        variant="ghost"
        aria-label={words.moveUp(key)}
        isDisabled={index === 0 || !allowed}
        onPress={() => move(index - 1)}
      >
        <ArrowUp size={16} aria-hidden="true" />
      </Button>
      <Button
        variant="ghost"
        aria-label={words.moveDown(key)}
        isDisabled={index === count - 1 || !allowed}
        onPress={() => move(index + 1)}
      >
        <ArrowDown size={16} aria-hidden="true" />
      </Button>
      <Button
        variant="ghost"
        aria-label={words.remove(key)}
        disabledReason={reason ?? (isDefault ? words.removeDefault : undefined)}
        onPress={() => fields.dispatch({ type: 'removeVariation', id })}
      >
        <Trash2 size={16} aria-hidden="true" />
      </Button>
    </div>
  )
}
