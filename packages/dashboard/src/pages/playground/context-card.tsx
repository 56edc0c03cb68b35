import { formatJson } from '@ff/protocol/management'
import { Plus } from 'lucide-react'
import { Button } from '../../components/button.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { TextField } from '../../components/text-field.tsx'
import { messages } from '../../messages/messages.ts'
import type { ContextDraft, ReadContext } from './context-draft.ts'
import { ContextPart } from './context-part.tsx'
import { ObservedContextSelect } from './observed-context-select.tsx'
import styles from './playground.module.css'
import type { ContextEditor } from './use-context-draft.ts'

const { playground: texts } = messages

/** The properties of `ContextCard`. */
export interface ContextCardProps {
  readonly editor: ContextEditor
  readonly read: ReadContext
  readonly environmentId: string
}

/** The editor of the context, as a form or as JSON. */
export function ContextCard({ editor, read, environmentId }: ContextCardProps) {
  return (
    <section className={styles.card} aria-label={texts.context}>
      <h2>{texts.context}</h2>
      <ObservedContextSelect environmentId={environmentId} onChoose={editor.use} />
      <Tabs
        label={texts.context}
        selected={editor.draft.mode}
        onSelect={(mode) => editor.setMode(mode as ContextDraft['mode'])}
        items={[
          { id: 'form', name: texts.form, content: <Form editor={editor} read={read} /> },
          { id: 'json', name: texts.json, content: <Json editor={editor} read={read} /> },
        ]}
      />
    </section>
  )
}

type ModeProps = Pick<ContextCardProps, 'editor' | 'read'>

function Form({ editor, read }: ModeProps) {
  const { parts } = editor.draft
  return (
    <div className={styles.parts}>
      {parts.map((part) => (
        <ContextPart
          key={part.id}
          part={part}
          editor={editor}
          faults={read.faults}
          canRemove={parts.length > 1}
        />
      ))}
      <div>
        <Button variant="ghost" onPress={editor.addPart}>
          <Plus size={16} aria-hidden="true" />
          {texts.addPart}
        </Button>
      </div>
    </div>
  )
}

function Json({ editor, read }: ModeProps) {
  const { json } = editor.draft
  const format = () => editor.setJson(formatJson(json))
  return (
    <div className={styles.parts}>
      <div className={styles.json}>
        <TextField
          label={texts.json}
          isLabelHidden
          isMultiline
          isMonospace
          spellCheck="false"
          value={json}
          onChange={editor.setJson}
          error={read.faults.get('json')}
        />
      </div>
      <div>
        <Button onPress={format} isDisabled={read.context === undefined}>
          {texts.format}
        </Button>
      </div>
    </div>
  )
}
