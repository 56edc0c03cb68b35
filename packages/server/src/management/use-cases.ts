import type { EndpointName, endpoints } from '@ff/protocol/management'
import { getFlagState, updateFlagState } from './flag-states.ts'
import { createFlag, deleteFlag, getFlag, listFlags, updateFlag } from './flags.ts'
import type { UseCase } from './management.ts'
import {
  createTargetingRule,
  deleteTargetingRule,
  getTargetingRule,
  listTargetingRules,
  reorderTargetingRules,
  updateTargetingRule,
} from './targeting-rules.ts'
import {
  createVariation,
  deleteVariation,
  listVariations,
  reorderVariations,
  updateVariation,
} from './variations.ts'

/** What each endpoint does. A row of the endpoint table without a use case does not compile. */
export const useCases: { readonly [N in EndpointName]: UseCase<(typeof endpoints)[N]> } = {
  listFlags,
  createFlag,
  getFlag,
  updateFlag,
  deleteFlag,
  listVariations,
  createVariation,
  reorderVariations,
  updateVariation,
  deleteVariation,
  getFlagState,
  updateFlagState,
  listTargetingRules,
  createTargetingRule,
  reorderTargetingRules,
  getTargetingRule,
  updateTargetingRule,
  deleteTargetingRule,
}
