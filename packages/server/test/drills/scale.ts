/**
 * `true` if the drills run at full size, as with `pnpm drills`. With `pnpm test` they are small.
 */
export const IS_FULL = process.env['FF_DRILLS'] === 'full'

/** Returns the size of a drill for the current mode. */
export function sized({ full, small }: { readonly full: number; readonly small: number }): number {
  return IS_FULL ? full : small
}

/** Returns the number below which a share of the numbers lies; `NaN` if there are none. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Prints a line of the drill report. */
export function report(line: string): void {
  process.stdout.write(`${line}\n`)
}
