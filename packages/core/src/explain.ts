export { attributesRead, minimalContext } from './attributes-read.ts'
export { evaluateDetail, type FullDetail } from './evaluate-detail.ts'
export { explainFlag } from './explain-flag.ts'
export type { ExplanationStep, FlagExplanation } from './explanation.ts'
