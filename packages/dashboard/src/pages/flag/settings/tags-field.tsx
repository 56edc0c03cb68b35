import { type KeyboardEvent, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { Chip } from '../../../components/fields/chip.tsx'
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
  if (isReadOnly && tags.length === 0) return null
  const add = () => {
    const tag = text.trim()
    if (tag !== '') onChange([...tags.filter((each) => each !== tag), tag])
    setText('')
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') add()
  }
  return (
    <fieldset className={styles.tags}>
      <legend className={styles.legend}>{words.tags}</legend>
      {tags.length > 0 && (
        <div className={styles.start}>
          {tags.map((tag) => (
            <Chip
              key={tag}
              name={tag}
              removeLabel={words.removeTag(tag)}
              onRemove={
                isReadOnly ? undefined : () => onChange(tags.filter((each) => each !== tag))
              }
            />
          ))}
        </div>
      )}
      {!isReadOnly && (
        <TextField
          label={words.addTag}
          isLabelHidden
          placeholder={words.addTag}
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
