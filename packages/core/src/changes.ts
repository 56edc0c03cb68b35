export {
  changedFlags,
  changedValues,
  type DefinitionDelta,
  mergeChanges,
  type ValueChanges,
} from './diff.ts'
export { nextInstant, rampingFlags, stepAt } from './step.ts'
