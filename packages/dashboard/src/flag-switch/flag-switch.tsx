import type { Environment } from '@ff/protocol/management'
import { messages } from '../messages/messages.ts'
import { classNames } from '../style/class-names.ts'
import styles from './flag-switch.module.css'
import { type SwitchableFlag, useFlagSwitch } from './flag-switch-context.ts'

/** The properties of `FlagSwitch`. */
export interface FlagSwitchProps {
  readonly flag: SwitchableFlag
  readonly environment: Environment
  readonly isActive: boolean
  /** Makes the switch as small as a row of the list permits. */
  readonly isCompact?: boolean
}

/**
 * The switch of a flag in an environment. A click changes nothing: it opens the dialog of
 * `FlagSwitchDialogHost`. It is a plain button, because a list has one for each cell.
 */
export function FlagSwitch({ flag, environment, isActive, isCompact = false }: FlagSwitchProps) {
  const { ask, refusal } = useFlagSwitch()
  const isArchived = flag.archivedAt != null
  const reason = isArchived ? messages.flagSwitch.archived : refusal
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isActive}
      aria-disabled={reason !== undefined}
      aria-label={messages.flagSwitch.label(flag.name, environment.name)}
      title={reason}
      className={classNames(styles.switch, isCompact && styles.compact)}
      onClick={() => reason === undefined && ask({ flag, environment, isActive })}
    >
      <span className={styles.track} aria-hidden="true" />
    </button>
  )
}
