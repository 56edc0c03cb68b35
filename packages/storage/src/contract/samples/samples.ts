import type { Kind, Records } from '../../ports/records.ts'
import { ACCOUNT_SAMPLES } from './account-samples.ts'
import { ACTIVITY_SAMPLES } from './activity-samples.ts'
import { CONFIGURATION_SAMPLES } from './configuration-samples.ts'
import type { SamplesOf } from './sample-fields.ts'

/** Functions that create a new, valid record of each kind. */
export const SAMPLES: SamplesOf<Kind> = {
  ...CONFIGURATION_SAMPLES,
  ...ACCOUNT_SAMPLES,
  ...ACTIVITY_SAMPLES,
}

/** Returns a new, valid record. `fields` override its defaults. */
export function sample<K extends Kind>(kind: K, fields: Partial<Records[K]> = {}): Records[K] {
  return { ...SAMPLES[kind](), ...fields }
}
