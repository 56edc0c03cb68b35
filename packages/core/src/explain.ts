export type { Outcome } from './evaluation/outcome.ts'
export {
  attributesRead,
  attributesReadBy,
  knownAttributes,
  minimalContext,
} from './explain/attributes-read.ts'
export { evaluateDetail, type FullDetail } from './explain/evaluate-detail.ts'
export { explainFlag, explainIncrementally } from './explain/explain-flag.ts'
export type { ExplanationStep, FlagExplanation } from './explain/explanation.ts'
export { ContextEvaluation } from './explain/partial-evaluation.ts'
export { prepareExplanations } from './explain/prepare-explanations.ts'
