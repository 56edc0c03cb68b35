export { contextTextOf, isObject } from './snapshot/context-text.ts'
export { type FlagSnapshot, serializeSnapshot, toSnapshot } from './snapshot/flag-snapshot.ts'
export { textHash } from './snapshot/text-hash.ts'
