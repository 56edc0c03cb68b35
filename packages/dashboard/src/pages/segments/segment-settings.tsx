import { TextField } from '../../components/text-field.tsx'
import type { SegmentFields } from '../../draft/segment-draft.ts'
import { messages } from '../../messages/messages.ts'
import { useSegmentHandle } from './segment-handle.ts'
import styles from './segments.module.css'

const { segments: texts } = messages

/** The name, the description and the key attribute of a segment. */
export function SegmentSettings() {
  const { draft, segment, issues, disabledReason, dispatch } = useSegmentHandle()
  const { name, description, keyAttribute } = draft.current
  const hasKeys = segment.includedCount + segment.excludedCount > 0
  const isDisabled = disabledReason !== undefined
  const faultOf = (field: string) => issues.find(({ path }) => path === field)?.message
  const set = (changes: Partial<Pick<SegmentFields, 'name' | 'description' | 'keyAttribute'>>) =>
    dispatch({ type: 'setSegment', changes })
  return (
    <section className={styles.card} aria-label={texts.settings}>
      <h2>{texts.settings}</h2>
      <TextField
        label={texts.name}
        value={name}
        onChange={(text) => set({ name: text })}
        error={faultOf('name')}
        isDisabled={isDisabled}
      />
      <TextField
        label={texts.description}
        value={description}
        onChange={(text) => set({ description: text })}
        error={faultOf('description')}
        isMultiline
        isDisabled={isDisabled}
      />
      <TextField
        label={texts.keyAttribute}
        hint={hasKeys ? texts.keyAttributeFixed : texts.listedHint}
        value={keyAttribute}
        onChange={(text) => set({ keyAttribute: text })}
        error={faultOf('keyAttribute')}
        isMonospace
        isDisabled={isDisabled || hasKeys}
      />
    </section>
  )
}
