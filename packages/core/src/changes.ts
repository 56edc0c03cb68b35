export {
  changedFlags,
  changedValues,
  type DefinitionDelta,
  mergeChanges,
  type ValueChanges,
} from './authoring/diff.ts'
export { changedByGradualRollouts, nextTimestamp, stepAt } from './evaluation/schedule.ts'
