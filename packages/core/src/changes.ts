export {
  changedFlags,
  changedValues,
  type DefinitionDelta,
  mergeChanges,
  type ValueChanges,
} from './authoring/diff.ts'
export { nextInstant, rampingFlags, stepAt } from './evaluation/step.ts'
