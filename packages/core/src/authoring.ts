export { conditionFault } from './condition-fault.ts'
export { type FlagSetIssue, findErrors, findIssues } from './issues.ts'
export { movedPercentage, moveRanges, reshuffledPercentage } from './move-ranges.ts'
export { pickVariation, rangesAt, rangesOf, type Share } from './rollout.ts'
