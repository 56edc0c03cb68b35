import type { shopFlags } from './shop-flags.ts'

declare module '../../src/registered-flags.ts' {
  interface RegisteredFlags {
    flags: typeof shopFlags
  }
}

// OpenFeature accepts no other keys than the registered ones.
declare module '@openfeature/core' {
  export type BooleanFlagKey = never
  export type StringFlagKey = never
  export type NumberFlagKey = never
  export type ObjectFlagKey = never
}
