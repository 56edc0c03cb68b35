import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import buttonStyles from '../components/button.module.css'
import type { Option } from '../components/select.tsx'
import { classNames } from '../style/class-names.ts'
import styles from './choice-menu.module.css'

/** The properties of `ChoiceMenu`. */
export interface ChoiceMenuProps {
  readonly label: string
  /** The content of the button that opens the choice. */
  readonly icon: ReactNode
  readonly options: readonly Option[]
  /** The ids of the chosen options. */
  readonly chosen: readonly string[]
  readonly onChange: (ids: readonly string[]) => void
}

/** A button that opens a list of checkboxes. It has no other widget, so that it loads with the page. */
export function ChoiceMenu({ label, icon, options, chosen, onChange }: ChoiceMenuProps) {
  const id = useId()
  const { place, isOpen, setOpen } = useDisclosure()
  const toggle = (option: string) => {
    const others = chosen.filter((each) => each !== option)
    onChange(chosen.includes(option) ? others : [...others, option])
  }
  return (
    <div ref={place} className={styles.place}>
      <button
        type="button"
        className={classNames(buttonStyles.button, buttonStyles.secondary)}
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {icon}
      </button>
      <fieldset id={id} className={styles.panel} hidden={!isOpen}>
        <legend className="visually-hidden">{label}</legend>
        {options.map((option) => (
          <label key={option.id} className={styles.option}>
            <input
              type="checkbox"
              checked={chosen.includes(option.id)}
              onChange={() => toggle(option.id)}
            />
            <bdi className={styles.name}>{option.name}</bdi>
          </label>
        ))}
      </fieldset>
    </div>
  )
}

/** A part that opens with its button, and closes with Escape or when the focus or a click leaves it. */
function useDisclosure() {
  const place = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    if (!isOpen) return
    const leave = ({ target }: Event) => {
      if (!(target instanceof Node && place.current?.contains(target))) setOpen(false)
    }
    const press = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return
      setOpen(false)
      place.current?.querySelector('button')?.focus()
    }
    document.addEventListener('pointerdown', leave)
    document.addEventListener('focusin', leave)
    document.addEventListener('keydown', press)
    return () => {
      document.removeEventListener('pointerdown', leave)
      document.removeEventListener('focusin', leave)
      document.removeEventListener('keydown', press)
    }
  }, [isOpen])
  return { place, isOpen, setOpen }
}
