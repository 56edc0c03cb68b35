export { FlagSetRoot, flagSetRoot, flagSetRootIncrementally } from './authoring/flag-set-root.ts'
