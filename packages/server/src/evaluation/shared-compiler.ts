import { ConditionCompiler, type Extensions, type FlagSetDefinition } from '@ff/core'
import type { DefinitionDelta } from '@ff/core/changes'
import { re2 } from '@ff/core/regex'
import { schemes } from '@ff/core/schemes'

/** The extensions that every flag set is compiled with, for evaluation, checks and explanations. */
export const extensions: Extensions = { regex: re2, schemes }

/** The maximum memory of the flag sets that one compiler has compiled, in bytes; estimated. */
const MAX_BYTES = 32 * 1024 * 1024

/**
 * The compiler of the conditions of all environments, whose equal conditions use memory once. It is
 * replaced regularly, so that the conditions of dropped flag sets do not stay in memory.
 */
export class SharedCompiler {
  #current = new ConditionCompiler(extensions)
  #bytes = 0

  get current(): ConditionCompiler {
    return this.#current
  }

  /**
   * Notes that a flag set was compiled, or the changes to it. `bytes` is the memory of the whole flag
   * set.
   */
  note(bytes: number, { flags, segments }: FlagSetDefinition, changes?: DefinitionDelta): void {
    const changed = changes && changes.flags.length + changes.segments.length
    const all = Math.max(1, flags.length + segments.length)
    this.#bytes += changed === undefined ? bytes : (bytes * changed) / all
    if (this.#bytes <= MAX_BYTES) return
    this.#current = new ConditionCompiler(extensions)
    this.#bytes = 0
  }
}
