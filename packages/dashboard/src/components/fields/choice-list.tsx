import { useState } from 'react'
import { messages } from '../../messages/messages.ts'
import { ComboBox } from '../combo-box.tsx'
import type { Option } from '../select.tsx'
import { Chip } from './chip.tsx'
import styles from './choice-list.module.css'

/** The properties of `ChoiceList`. */
export interface ChoiceListProps {
  readonly label: string
  readonly options: readonly Option[]
  /** The ids of the chosen options. Unknown ids are shown as they are. */
  readonly chosen: readonly string[]
  readonly onChange: (ids: readonly string[]) => void
  readonly error?: string | undefined
}

/** Several chosen options, each with a button that removes it, and a field that adds one. */
export function ChoiceList({ label, options, chosen, onChange, error }: ChoiceListProps) {
  const [text, setText] = useState('')
  const [round, setRound] = useState(0)
  const nameOf = (id: string) => options.find((option) => option.id === id)?.name ?? id
  const choose = (id: string) => {
    onChange([...chosen.filter((each) => each !== id), id])
    setText('')
    setRound(round + 1)
  }
  return (
    <div className={styles.list}>
      {chosen.map((id) => (
        <Chip
          key={id}
          name={nameOf(id)}
          removeLabel={messages.components.remove(nameOf(id))}
          onRemove={() => onChange(chosen.filter((each) => each !== id))}
        />
      ))}
      <ComboBox
        key={round}
        label={label}
        isLabelHidden
        placeholder={label}
        options={options.filter(({ id }) => !chosen.includes(id))}
        value={text}
        onChange={setText}
        onChoose={choose}
        error={error}
      />
    </div>
  )
}
