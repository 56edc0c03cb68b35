import type { CompiledFlag } from '../evaluation/flag.ts'
import { servedBy } from '../evaluation/outcome.ts'

/** The prerequisites of all flags of a rule matrix, created by `compilePrerequisites`. */
export interface PrerequisiteTable {
  /**
   * The flags with prerequisites. A flag comes after the flags that it depends on. Each has three
   * numbers, its index, its code while a prerequisite is not met, and the number of prerequisites,
   * followed by two numbers for each prerequisite, its index and an offset in `met`.
   */
  readonly flags: Int32Array
  /**
   * For each prerequisite, 1 for each served variation that meets it and 0 for all others. See
   * `servedBy`.
   */
  readonly met: Uint8Array
}

/** Compiles the prerequisites of flags that depend neither on themselves nor on missing flags. */
export function compilePrerequisites(
  flags: readonly CompiledFlag[],
  flagsById: ReadonlyMap<string, CompiledFlag>,
  positions: ReadonlyMap<CompiledFlag, number>,
): PrerequisiteTable {
  const numbers: number[] = []
  const met: number[] = []
  const added = new Set<CompiledFlag>()
  const add = (flag: CompiledFlag) => {
    if (added.has(flag) || !flag.isActive || flag.prerequisites.length === 0) return
    added.add(flag)
    const own = [positions.get(flag) ?? 0, flag.unmet.code, flag.prerequisites.length]
    for (const { flagId, variationIds } of flag.prerequisites) {
      const other = flagsById.get(flagId)
      if (other === undefined) continue
      add(other)
      own.push(positions.get(other) ?? 0, met.length)
      met.push(0, ...other.variations.map(({ id }) => (variationIds.has(id) ? 1 : 0)))
    }
    numbers.push(...own)
  }
  for (const flag of flags) add(flag)
  return { flags: Int32Array.from(numbers), met: Uint8Array.from(met) }
}

/** Replaces the codes of flags with a prerequisite that is not met. The codes start at `from`. */
export function applyPrerequisites(
  { flags, met }: PrerequisiteTable,
  codes: Int32Array,
  from: number,
): void {
  for (let at = 0; at < flags.length; ) {
    const position = from + (flags[at] ?? 0)
    const unmet = flags[at + 1] ?? 0
    const end = at + 3 + 2 * (flags[at + 2] ?? 0)
    for (at += 3; at < end; at += 2) {
      const served = servedBy(codes[from + (flags[at] ?? 0)] ?? 0)
      if (met[(flags[at + 1] ?? 0) + served] === 0) codes[position] = unmet
    }
  }
}
