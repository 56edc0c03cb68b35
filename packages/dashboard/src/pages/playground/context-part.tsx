import { Plus, X } from 'lucide-react'
import { Button } from '../../components/button.tsx'
import { Select } from '../../components/select.tsx'
import { TextField } from '../../components/text-field.tsx'
import { messages } from '../../messages/messages.ts'
import type { AttributeDraft, AttributeType, PartDraft } from './context-draft.ts'
import styles from './playground.module.css'
import type { ContextEditor } from './use-context-draft.ts'

const { playground: texts } = messages
const TYPES = Object.entries(texts.types).map(([id, name]) => ({ id, name }))

/** The properties of `ContextPart`. */
export interface ContextPartProps {
  readonly part: PartDraft
  readonly editor: ContextEditor
  readonly faults: ReadonlyMap<string, string>
  readonly canRemove: boolean
}

/** The part of the context that belongs to one kind: its key and its attributes. */
export function ContextPart({ part, editor, faults, canRemove }: ContextPartProps) {
  const { id, kind, key, attributes } = part
  return (
    <fieldset className={styles.part} aria-label={texts.partOf(kind)}>
      <div className={styles.pair}>
        <TextField
          label={texts.kind}
          value={kind}
          onChange={(text) => editor.setPart(id, { kind: text })}
          error={faults.get(`${id}.kind`)}
        />
        <TextField
          label={texts.key}
          value={key}
          onChange={(text) => editor.setPart(id, { key: text })}
          autoComplete="off"
        />
      </div>
      {attributes.map((attribute) => (
        <Attribute
          key={attribute.id}
          attribute={attribute}
          faults={faults}
          onChange={(changed) => editor.setAttribute(id, changed)}
          onRemove={() => editor.removeAttribute(id, attribute.id)}
        />
      ))}
      <div className={styles.buttons}>
        <Button variant="ghost" onPress={() => editor.addAttribute(id)}>
          <Plus size={16} aria-hidden="true" />
          {texts.addAttribute}
        </Button>
        {canRemove && (
          <Button
            variant="ghost"
            aria-label={texts.removePart(kind)}
            onPress={() => editor.removePart(id)}
          >
            {texts.remove}
          </Button>
        )}
      </div>
    </fieldset>
  )
}

const BOOLEANS = ['true', 'false'].map((id) => ({ id, name: id }))

/** Returns an attribute of another type. Its text stays if it can be a value of this type. */
function withType(attribute: AttributeDraft, type: AttributeType): AttributeDraft {
  const isKept = type !== 'boolean' || BOOLEANS.some(({ id }) => id === attribute.text)
  return { ...attribute, type, text: isKept ? attribute.text : 'true' }
}

interface AttributeProps {
  readonly attribute: AttributeDraft
  readonly faults: ReadonlyMap<string, string>
  readonly onChange: (attribute: AttributeDraft) => void
  readonly onRemove: () => void
}

function Attribute({ attribute, faults, onChange, onRemove }: AttributeProps) {
  const { id, name, type, text } = attribute
  return (
    <div className={styles.attribute}>
      <div className={styles.name}>
        <TextField
          label={texts.attribute}
          isLabelHidden
          placeholder={texts.attribute}
          value={name}
          onChange={(changed) => onChange({ ...attribute, name: changed })}
          error={faults.get(`${id}.name`)}
        />
      </div>
      <div className={styles.type}>
        <Select
          label={texts.type}
          isLabelHidden
          options={TYPES}
          value={type}
          onChange={(changed) => onChange(withType(attribute, changed as AttributeType))}
        />
      </div>
      <div className={styles.text}>
        {type === 'boolean' ? (
          <Select
            label={texts.value}
            isLabelHidden
            options={BOOLEANS}
            value={text}
            onChange={(changed) => onChange({ ...attribute, text: changed })}
          />
        ) : (
          <TextField
            label={texts.value}
            isLabelHidden
            placeholder={texts.value}
            value={text}
            onChange={(changed) => onChange({ ...attribute, text: changed })}
            error={faults.get(`${id}.value`)}
            isMonospace={type === 'json'}
          />
        )}
      </div>
      <div className={styles.remove}>
        <Button variant="ghost" aria-label={texts.removeAttribute(name)} onPress={onRemove}>
          <X size={16} aria-hidden="true" />
        </Button>
      </div>
    </div>
  )
}
