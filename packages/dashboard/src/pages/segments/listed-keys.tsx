import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/text-field.tsx'
import { messages } from '../../messages/messages.ts'
import { keysFromLines } from '../flag/targeting/keys-from-lines.ts'
import { useSegmentHandle } from './segment-handle.ts'
import styles from './segments.module.css'

const { segments: texts, components } = messages
const LISTS = ['included', 'excluded'] as const

type ListName = (typeof LISTS)[number]

/** An edit of a list in a dialog. */
interface ListEdit {
  readonly list: ListName
  readonly type: 'addKeys' | 'removeKeys'
}

/** The numbers of listed keys of a segment, and the keys that the draft adds and removes. */
export function ListedKeys() {
  const [edit, setEdit] = useState<ListEdit>()
  return (
    <section className={styles.card} aria-label={texts.listed}>
      <h2>{texts.listed}</h2>
      {LISTS.map((list) => (
        <KeyList key={list} list={list} onEdit={(type) => setEdit({ list, type })} />
      ))}
      {edit !== undefined && <KeysDialog edit={edit} onClose={() => setEdit(undefined)} />}
    </section>
  )
}

interface KeyListProps {
  readonly list: ListName
  readonly onEdit: (type: ListEdit['type']) => void
}

function KeyList({ list, onEdit }: KeyListProps) {
  const { segment, draft, disabledReason, issues } = useSegmentHandle()
  const count = list === 'included' ? segment.includedCount : segment.excludedCount
  const { add, remove } = draft.current[list]
  const { title, hint, add: addName, remove: removeName } = texts.lists[list]
  const fault = issues.find(({ path }) => /^(add|remove)\b/.test(path))?.message
  return (
    <div className={styles.keys}>
      <h3>{title}</h3>
      <p className={styles.muted}>{hint}</p>
      <p>
        {texts.count(count)}
        {add.length > 0 && <span className={styles.pending}>{texts.pendingAdd(add.length)}</span>}
        {remove.length > 0 && (
          <span className={styles.pending}>{texts.pendingRemove(remove.length)}</span>
        )}
      </p>
      {fault !== undefined && add.length + remove.length > 0 && (
        <p className={styles.fault}>{fault}</p>
      )}
      <div className={styles.buttons}>
        <Button onPress={() => onEdit('addKeys')} disabledReason={disabledReason}>
          {addName}
        </Button>
        <Button onPress={() => onEdit('removeKeys')} disabledReason={disabledReason}>
          {removeName}
        </Button>
      </div>
    </div>
  )
}

interface KeysDialogProps {
  readonly edit: ListEdit
  readonly onClose: () => void
}

function KeysDialog({ edit: { list, type }, onClose }: KeysDialogProps) {
  const { dispatch } = useSegmentHandle()
  const [text, setText] = useState('')
  const keys = keysFromLines(text)
  const isAdding = type === 'addKeys'
  const { add, remove } = texts.lists[list]
  const apply = () => {
    dispatch({ type, list, keys })
    onClose()
  }
  return (
    <Dialog
      title={isAdding ? add : remove}
      isOpen
      onClose={onClose}
      canDismiss={text === ''}
      actions={
        <>
          <Button onPress={onClose}>{components.cancel}</Button>
          <Button variant="primary" onPress={apply} isDisabled={keys.length === 0}>
            {isAdding ? texts.addKeys : texts.removeKeys}
          </Button>
        </>
      }
    >
      <TextField
        label={texts.pasteKeys}
        hint={texts.count(keys.length)}
        value={text}
        onChange={setText}
        isMultiline
        isMonospace
        autoFocus
      />
    </Dialog>
  )
}
