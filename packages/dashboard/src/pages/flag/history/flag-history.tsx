import type { Environment, FlagView } from '@ff/protocol/management'
import { VersionTimeline } from '../../history/version-timeline.tsx'

/** The properties of `FlagHistory`. */
export interface FlagHistoryProps {
  readonly flag: FlagView
  readonly environment: Environment
}

/** The versions of an environment that changed the flag. */
export function FlagHistory({ flag, environment }: FlagHistoryProps) {
  return <VersionTimeline key={environment.id} environment={environment} flagId={flag.id} />
}
