import { X } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { TextField } from '../../../components/text-field.tsx'
import { fields as texts } from '../../../messages/en/fields.ts'
import styles from '../fields/fields.module.css'

const { settings: words } = texts

/** The properties of `TagsField`. */
export interface TagsFieldProps {
  readonly tags: readonly string[]
  readonly isReadOnly: boolean
  readonly onChange: (tags: readonly string[]) => void
  readonly error: string | undefined
}

/** The tags of a flag, each with a button that removes it, and a field that adds one. */
export function TagsField({ tags, isReadOnly, onChange, error }: TagsFieldProps) {
  const [text, setText] = useState('')
  const add = () => {
    const tag = text.trim()
    if (tag !== '') onChange([...tags.filter((each) => each !== tag), tag])
    setText('')
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') add()
  }
  return (
    <fieldset className={styles.form} aria-label={words.tags}>
      <div className={styles.start}>
        {tags.map((tag) => (
          <span key={tag} className={styles.start}>
            <bdi>{tag}</bdi>
            {!isReadOnly && (
              <Button
                variant="ghost"
                aria-label={words.removeTag(tag)}
                onPress={() => onChange(tags.filter((each) => each !== tag))}
              >
                <X size={14} aria-hidden="true" />
              </Button>
            )}
          </span>
        ))}
      </div>
      {!isReadOnly && (
        <TextField
          label={words.addTag}
          hint={words.addTagHint}
          value={text}
          onChange={setText}
          onKeyDown={press}
          maxLength={64}
          error={error}
          after={<Button onPress={add}>{words.add}</Button>}
        />
      )}
    </fieldset>
  )
}
