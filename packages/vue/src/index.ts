export {
  createFlags,
  type FlagComposables,
  type ProvidedFlags,
  type ReadOptions,
} from './flag-composables.ts'
