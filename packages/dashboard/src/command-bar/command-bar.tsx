import { type KeyboardEvent, useId, useState } from 'react'
import { Dialog, Modal, ModalOverlay } from 'react-aria-components'
import { messages } from '../messages/messages.ts'
import styles from './command-bar.module.css'
import type { Command } from './commands.ts'
import { useCommands, useRunCommand } from './use-commands.ts'

const commandBar = messages.commandBar

/** The command bar over the page. `onClose` is called before a command runs. */
export function CommandBar({ onClose }: { readonly onClose: () => void }) {
  const run = useRunCommand()
  const [opener] = useState(() => document.activeElement)
  const choose = ({ target }: Command) => {
    onClose()
    // The focus returns to the page first, so that a dialog can give it back later.
    const runLater = () => {
      const isLost = document.activeElement === document.body
      if (isLost && opener instanceof HTMLElement) opener.focus({ preventScroll: true })
      run(target)
    }
    requestAnimationFrame(() => requestAnimationFrame(runLater))
  }
  return (
    <ModalOverlay
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && onClose()}
      className={styles.overlay ?? ''}
    >
      <Modal className={styles.modal ?? ''}>
        <Dialog aria-label={commandBar.title} className={styles.dialog ?? ''}>
          <Search onChoose={choose} onClose={onClose} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

interface SearchProps {
  readonly onChoose: (command: Command) => void
  readonly onClose: () => void
}

function Search({ onChoose, onClose }: SearchProps) {
  const id = useId()
  const [text, setText] = useState('')
  const [selected, setSelected] = useState(0)
  const { commands, isSearching, hasFailed } = useCommands(text)
  const active = Math.min(selected, commands.length - 1)
  const press = (event: KeyboardEvent) => {
    const moved = movedTo(event.key, active, commands.length)
    const command = commands[active]
    if (moved !== undefined) setSelected(moved)
    else if (event.key === 'Enter' && command !== undefined && !event.nativeEvent.isComposing)
      onChoose(command)
    else if (event.key === 'Escape') onClose()
    else return
    event.preventDefault()
  }
  const type = (typed: string) => {
    setText(typed)
    setSelected(0)
  }
  const activeId = active >= 0 ? `${id}-${active}` : undefined
  return (
    <>
      <input
        className={styles.input}
        role="combobox"
        aria-label={commandBar.title}
        aria-expanded={commands.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={activeId}
        aria-autocomplete="list"
        placeholder={commandBar.placeholder}
        value={text}
        onChange={(event) => type(event.target.value)}
        onKeyDown={press}
        autoComplete="off"
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: The bar is opened to type into it.
        autoFocus
      />
      <Commands id={id} commands={commands} active={active} onChoose={onChoose} />
      <div className={styles.state} role="status">
        {hasFailed && <p>{commandBar.failed}</p>}
        {!hasFailed && !isSearching && commands.length === 0 && <p>{commandBar.none}</p>}
      </div>
    </>
  )
}

/** Returns the position after a key; `undefined` if the key does not move. */
export function movedTo(key: string, active: number, count: number): number | undefined {
  if (count === 0) return undefined
  if (key === 'ArrowDown') return (active + 1) % count
  if (key === 'ArrowUp') return (active + count - 1) % count
  return undefined
}

interface CommandsProps {
  readonly id: string
  readonly commands: readonly Command[]
  readonly active: number
  readonly onChoose: (command: Command) => void
}

const listbox = { role: 'listbox' } as const

function Commands({ id, commands, active, onChoose }: CommandsProps) {
  const list = { ...listbox, 'aria-label': commandBar.results }
  return (
    <div {...list} id={`${id}-list`} className={styles.list}>
      {commands.map((command, index) => (
        <Option
          key={command.id}
          id={`${id}-${index}`}
          command={command}
          isActive={index === active}
          onChoose={() => onChoose(command)}
        />
      ))}
    </div>
  )
}

interface OptionProps {
  readonly id: string
  readonly command: Command
  readonly isActive: boolean
  readonly onChoose: () => void
}

function Option({ id, command: { name, detail, group }, isActive, onChoose }: OptionProps) {
  const scroll = (element: HTMLElement | null) => {
    if (isActive) element?.scrollIntoView({ block: 'nearest' })
  }
  const option = { role: 'option', 'aria-selected': isActive, tabIndex: -1 } as const
  return (
    <button
      {...option}
      ref={scroll}
      id={id}
      type="button"
      className={styles.option}
      onClick={onChoose}
    >
      <bdi className={styles.name}>{name}</bdi>
      {detail !== '' && <bdi className={styles.detail}>{detail}</bdi>}
      <span className={styles.group}>{group}</span>
    </button>
  )
}
