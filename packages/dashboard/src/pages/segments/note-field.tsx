import { TextField } from '../../components/text-field.tsx'
import { messages } from '../../messages/messages.ts'
import { useProject } from '../../queries/use-queries.ts'

const { segments: texts } = messages

/** The properties of `NoteField`. */
export interface NoteFieldProps {
  readonly projectId: string
  readonly value: string
  readonly onChange: (note: string) => void
  /** `true` shows the field although no environment requires a note. */
  readonly isAlwaysShown?: boolean
}

/** The field for the reason of a change. A change of a segment applies in every environment. */
export function NoteField({ projectId, value, onChange, isAlwaysShown = false }: NoteFieldProps) {
  const environments = useProject(projectId).data?.environments ?? []
  const isRequired = environments.some(({ commentRequired }) => commentRequired)
  if (!isRequired && !isAlwaysShown) return null
  return (
    <TextField
      label={texts.note}
      hint={isRequired ? texts.noteRequired : texts.noteHint}
      value={value}
      onChange={onChange}
      maxLength={1000}
      isRequired={isRequired}
    />
  )
}
