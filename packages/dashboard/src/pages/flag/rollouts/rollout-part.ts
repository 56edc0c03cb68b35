import type { Rollout } from '../../../draft/configuration.ts'
import type { RolloutFields } from '../../../draft/rollout-edits.ts'

/** The properties of the parts of the editor of a rollout. */
export interface RolloutPartProps {
  readonly rollout: Rollout
  readonly onChange: (changes: RolloutFields) => void
  /** Returns the fault of a field. */
  readonly faultOf: (field: keyof Rollout) => string | undefined
}
