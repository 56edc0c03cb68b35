import type { FlagSetState } from './flag-set-diff.ts'

/** Returns the position of an event: the version and the step, which change with every change. */
export function positionOf({ flagSet, step }: FlagSetState): string {
  return `${flagSet.version}.${step}`
}

/** Returns the version in a position; 0 if the text is not a position. */
export function versionIn(position: string): number {
  return Number(/^(\d{1,15})\.\d{1,15}$/.exec(position)?.[1] ?? 0)
}
