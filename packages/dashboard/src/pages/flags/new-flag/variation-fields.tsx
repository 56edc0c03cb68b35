import { Button } from '../../../components/button.tsx'
import { TextField } from '../../../components/text-field.tsx'
import { JsonField } from '../../../json/json-field.tsx'
import { messages } from '../../../messages/messages.ts'
import { type FlagForm, type FormVariation, newVariation } from './flag-form.ts'
import styles from './new-flag.module.css'

const texts = messages.newFlag
const FEWEST = 1
const MOST = 100

/** The properties of `VariationFields`. */
export interface VariationFieldsProps {
  readonly form: FlagForm
  readonly onChange: (changes: Partial<FlagForm>) => void
  readonly faultOf: (path: string) => string | undefined
}

/** The variations of a flag that is not boolean: a key and a value each. */
export function VariationFields({ form, onChange, faultOf }: VariationFieldsProps) {
  const { type, variations, servedId } = form
  const set = (changed: FormVariation) =>
    onChange({ variations: variations.map((each) => (each.id === changed.id ? changed : each)) })
  const remove = ({ id }: FormVariation) => {
    const others = variations.filter((each) => each.id !== id)
    onChange({ variations: others, servedId: id === servedId ? (others[0]?.id ?? '') : servedId })
  }
  const add = () =>
    onChange({ variations: [...variations, newVariation(type, variations.length + 1)] })
  return (
    <fieldset className={styles.group}>
      <legend className={styles.legend}>{texts.variations}</legend>
      {variations.map((variation, index) => (
        <div key={variation.id} className={styles.variation}>
          <TextField
            label={texts.variationKey(index + 1)}
            value={variation.key}
            onChange={(key) => set({ ...variation, key })}
            error={faultOf(`variations.${index}.key`)}
            isMonospace
          />
          <ValueField
            type={type}
            label={texts.variationValue(index + 1)}
            value={variation.value}
            onChange={(value) => set({ ...variation, value })}
            error={faultOf(`variations.${index}.value`)}
          />
          {variations.length > FEWEST && (
            <Button
              variant="ghost"
              aria-label={texts.removeVariation(variation.key)}
              onPress={() => remove(variation)}
            >
              {texts.remove}
            </Button>
          )}
        </div>
      ))}
      <div>
        <Button onPress={add} isDisabled={variations.length >= MOST}>
          {texts.addVariation}
        </Button>
      </div>
    </fieldset>
  )
}

interface ValueFieldProps {
  readonly type: FlagForm['type']
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error: string | undefined
}

function ValueField({ type, ...field }: ValueFieldProps) {
  if (type === 'json') return <JsonField {...field} />
  return <TextField {...field} isMonospace isMultiline={type === 'string'} />
}
