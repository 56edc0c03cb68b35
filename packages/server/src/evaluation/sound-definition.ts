import { FlagError, type FlagSet, type FlagSetDefinition } from '@ff/core'
import { findErrors } from '@ff/core/authoring'
import { flagDefinitionSchema, segmentDefinitionSchema } from '@ff/core/schema'

/** After how many parts of a definition that were checked the work may be interrupted. */
const CHECKS_A_PART = 4

/**
 * Throws `INVALID_DEFINITION` for what must never be evaluated: a flag or segment of the wrong
 * shape, or two flags with one key. Parts that are the very same object in `known` were checked
 * before and are not checked again. The work may be interrupted at each `yield`.
 */
export function* assertSoundDefinition(
  definition: FlagSetDefinition,
  known?: FlagSetDefinition,
): Generator<undefined, void> {
  const checked = new Set<object>(known === undefined ? [] : [...known.flags, ...known.segments])
  const keys = new Set<string>()
  for (const [index, flag] of definition.flags.entries()) {
    if (!checked.has(flag)) {
      assertShape('flag', flag, flagDefinitionSchema.safeParse(flag))
      if (index % CHECKS_A_PART === 0) yield
    }
    if (keys.has(flag.key)) throw unsound(`two flags have the key "${flag.key}"`)
    keys.add(flag.key)
  }
  for (const [index, segment] of definition.segments.entries()) {
    if (checked.has(segment)) continue
    assertShape('segment', segment, segmentDefinitionSchema.safeParse(segment))
    if (index % CHECKS_A_PART === 0) yield
  }
}

/**
 * Throws `INVALID_DEFINITION` when a flag set has faults, such as a broken reference, that the
 * one it is to replace does not have.
 */
export function assertNoNewFaults(after: FlagSet, before: FlagSet): void {
  const known = new Set(findErrors(before).map(({ message }) => message))
  const fault = findErrors(after).find(({ message }) => !known.has(message))
  if (fault !== undefined) {
    throw unsound(`${fault.flagKey ?? fault.segmentId ?? 'a part'}: ${fault.message}`)
  }
}

interface ParseResult {
  readonly error?: {
    readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
  }
}

function assertShape(kind: string, part: unknown, { error }: ParseResult): void {
  const issue = error?.issues[0]
  if (issue === undefined) return
  const name = nameOf(part)
  throw unsound(`${kind} ${name}: ${issue.path.map(String).join('.')}: ${issue.message}`)
}

/** Whatever tells people which part it is; the part may be anything at all. */
function nameOf(part: unknown): string {
  if (typeof part !== 'object' || part === null) return '(not an object)'
  const { id, key } = part as { readonly id?: unknown; readonly key?: unknown }
  return JSON.stringify(key ?? id ?? null)
}

function unsound(fault: string): FlagError {
  return new FlagError('INVALID_DEFINITION', `The flag set is not sound: ${fault}.`)
}
