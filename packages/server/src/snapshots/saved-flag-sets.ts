import type { FlagSetDefinition } from '@ff/core'
import type { Saved, SavedState } from './saved-state.ts'

/** The flag sets of the loaded environments in the saved state. */
export class SavedFlagSets {
  readonly #state: SavedState

  constructor(state: SavedState) {
    this.#state = state
  }

  /** Returns the saved flag set of an environment; `undefined` if there is none. */
  load(environmentId: string): Promise<Saved<FlagSetDefinition> | undefined> {
    return this.#state.load(nameOf(environmentId))
  }

  /** Saves the flag set of an environment soon. */
  save(environmentId: string, definition: FlagSetDefinition): void {
    this.#state.save(nameOf(environmentId), () => partsOf(definition))
  }

  /** Notes that the saved flag set is the newest. */
  confirm(environmentId: string): void {
    this.#state.confirm(nameOf(environmentId))
  }
}

function nameOf(environmentId: string): string {
  return `flag-set-${environmentId}`
}

/** Returns the parts of the JSON text. Each is short, so that writing them does not block. */
function* partsOf({ flags, segments, ...rest }: FlagSetDefinition): Iterable<string> {
  yield `${JSON.stringify(rest).slice(0, -1)},"flags":[`
  yield* itemsOf(flags)
  yield '],"segments":['
  yield* itemsOf(segments)
  yield ']}'
}

function* itemsOf(items: readonly unknown[]): Iterable<string> {
  for (const [index, item] of items.entries()) {
    yield `${index === 0 ? '' : ','}${JSON.stringify(item)}`
  }
}
