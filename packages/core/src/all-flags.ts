export {
  type Evaluation,
  evaluateAll,
  evaluateSome,
  onlyFlags,
  prepareIncrementally,
} from './batch/evaluate-all.ts'
export { detailsOf, jsonOf, reasonAt, valuesOf, variationAt } from './batch/readers.ts'
export { clientView } from './evaluation/client-view.ts'
