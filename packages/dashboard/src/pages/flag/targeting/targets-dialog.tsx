import { useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { TextField } from '../../../components/text-field.tsx'
import type { Target } from '../../../draft/configuration.ts'
import { targeting } from '../../../messages/en/targeting.ts'
import { messages } from '../../../messages/messages.ts'
import { useEditing } from '../editing/editing.ts'
import { VariationSelect } from '../editing/variation-select.tsx'
import { keysFromLines } from './keys-from-lines.ts'

const { targets: texts } = targeting

/** The properties of `TargetsDialog`. */
export interface TargetsDialogProps {
  /** The targets to edit, or `new` to add some. */
  readonly target: Target | 'new'
  readonly onClose: () => void
}

/** A dialog that edits the targets of one variation and context kind, or adds some. */
export function TargetsDialog({ target, onClose }: TargetsDialogProps) {
  const { handle } = useEditing()
  const isNew = target === 'new'
  const [variationId, setVariationId] = useState(
    isNew ? (handle.flag.variations[0]?.id ?? null) : target.variationId,
  )
  const [kind, setKind] = useState(isNew ? 'user' : target.kind)
  const [text, setText] = useState(isNew ? '' : target.keys.join('\n'))
  const keys = keysFromLines(text)
  const save = (next: readonly string[]) => {
    if (variationId === null) return
    const type = isNew ? 'addTargetKeys' : 'setTargetKeys'
    handle.dispatch({ type, kind: kind.trim() || 'user', variationId, keys: next })
    handle.dispatch({ type: 'settle' })
    onClose()
  }
  return (
    <Dialog
      title={isNew ? texts.dialogAdd : texts.dialogEdit}
      isOpen
      onClose={onClose}
      canDismiss={false}
      actions={
        <>
          {!isNew && <Button onPress={() => save([])}>{texts.remove}</Button>}
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button variant="primary" onPress={() => save(keys)}>
            {texts.save}
          </Button>
        </>
      }
    >
      {isNew && (
        <>
          <VariationSelect
            label={texts.variation}
            value={variationId}
            onChange={(id) => setVariationId(id)}
          />
          <TextField label={texts.kind} value={kind} onChange={setKind} maxLength={64} />
        </>
      )}
      <TextField
        label={texts.keys}
        isMultiline
        isMonospace
        value={text}
        onChange={setText}
        hint={texts.keysHint(keys.length)}
      />
      <p>{texts.moves}</p>
    </Dialog>
  )
}
