import type { FlagView } from '@ff/protocol/management'

/** The properties of `SettingsTab`. */
export interface SettingsTabProps {
  readonly flag: FlagView
  /** The `ETag` of `flag`. */
  readonly flagEtag: string | undefined
}
