'use client'

export { createFlagHooks, type FlagHooks, type UseFlagOptions } from './flag-hooks.ts'
export type { FlagsProviderProps } from './provider-client.ts'
