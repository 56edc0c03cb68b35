export { conditionFault } from './condition.ts'
export { movedPercentage, moveRanges, reshuffledPercentage } from './move-ranges.ts'
export { pickVariation, rangesAt, rangesOf, type Share } from './rollout.ts'
