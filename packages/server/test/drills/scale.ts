/** Whether the drills run at full size, as `pnpm drills` does; `pnpm test` runs them small. */
export const IS_FULL = process.env['FF_DRILLS'] === 'full'

/** How much of something a drill does. */
export function sized({ full, small }: { readonly full: number; readonly small: number }): number {
  return IS_FULL ? full : small
}

/** A line for whoever runs the drills. */
export function report(line: string): void {
  process.stdout.write(`${line}\n`)
}
