export { changedFlags } from './authoring/changed-flags.ts'
export { changedValues, type ValueChanges } from './authoring/changed-values.ts'
export {
  type Changed,
  type ChangedSegment,
  type DefinitionDelta,
  type KeyChanges,
  mergeChanges,
  type SegmentProperties,
} from './authoring/definition-delta.ts'
export { changedByGradualRollouts, nextTimestamp, stepAt } from './evaluation/schedule.ts'
