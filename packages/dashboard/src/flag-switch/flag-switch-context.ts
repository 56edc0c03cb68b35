import type { Environment } from '@ff/protocol/management'
import { createContext, use } from 'react'

/** The part of a flag that its switch needs. A summary of a flag also has it. */
export interface SwitchableFlag {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly archivedAt?: string | null
}

/** A question whether a flag is to be switched in an environment. */
export interface FlagSwitchQuestion {
  readonly flag: SwitchableFlag
  readonly environment: Environment
  /** The state at the time of the question; the dialog offers the other one. */
  readonly isActive: boolean
}

/** The access of switches to the dialog of the page. */
export interface FlagSwitchAccess {
  /** Opens the dialog. It does nothing if the user has no permission. */
  readonly ask: (question: FlagSwitchQuestion) => void
  /** Why the user may not switch flags; `undefined` if the user may. */
  readonly refusal: string | undefined
}

/** The dialog of the page. */
export const FlagSwitchContext = createContext<FlagSwitchAccess>({
  ask: () => undefined,
  refusal: undefined,
})

/** Returns the access to the dialog of the page. */
export function useFlagSwitch(): FlagSwitchAccess {
  return use(FlagSwitchContext)
}
