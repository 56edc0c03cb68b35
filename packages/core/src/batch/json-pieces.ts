import type { CompiledFlag } from '../evaluation/flag.ts'
import { servedBy } from '../evaluation/outcome.ts'

/**
 * The maximum total length of the cached texts of a piece, in characters. It limits the memory of
 * the cache.
 */
const MAX_CHARACTERS = 16_384

/** Consecutive flags, and the cached text of each combination of their values. */
interface Piece {
  readonly flags: readonly CompiledFlag[]
  /** The text of each combination, or an empty string if the combination has not occurred. */
  readonly texts: string[]
}

/**
 * The JSON text of all flags of a flag set, in cached pieces. Joining the texts of single flags
 * would take as long as their evaluation. Therefore the text of several consecutive flags is cached
 * for each combination of their values.
 */
export class JsonPieces {
  readonly pieces: readonly Piece[]
  /**
   * The number by which the index of each flag's value is multiplied to get the index of a
   * combination.
   */
  readonly #weights: Int32Array

  constructor(flags: readonly CompiledFlag[]) {
    const pieces: Piece[] = []
    let [first, count, length] = [0, 1, 0]
    this.#weights = new Int32Array(flags.length)
    for (const [at, { members }] of flags.entries()) {
      const longest = members.reduce((most, member) => Math.max(most, member.length), 0)
      if (at > first && count * members.length * (length + longest) > MAX_CHARACTERS) {
        pieces.push(pieceOf(flags.slice(first, at), count, first === 0))
        first = at
        count = 1
        length = 0
      }
      this.#weights[at] = count
      count *= members.length
      length += longest
    }
    this.pieces = [...pieces, pieceOf(flags.slice(first), count, first === 0)]
  }

  /** Returns the JSON text for the codes that start at `start`, one for each flag. */
  join(codes: Int32Array, start: number): string {
    let text = '{'
    let at = 0
    for (const { flags, texts } of this.pieces) {
      const first = at
      let combination = 0
      for (const end = first + flags.length; at < end; at += 1) {
        combination += (this.#weights[at] ?? 0) * servedBy(codes[start + at] ?? 0)
      }
      if (texts[combination] === '') {
        const members = flags.map((flag, index) => {
          return flag.members[servedBy(codes[start + first + index] ?? 0)]
        })
        // Each member starts with a comma, which is removed from the first one.
        texts[combination] = first === 0 ? members.join('').slice(1) : members.join('')
      }
      text += texts[combination] ?? ''
    }
    return `${text}}`
  }
}

/** The pieces by their first flag. The next version of a flag set reuses unchanged pieces. */
const knownPieces = new WeakMap<CompiledFlag, Piece>()

function pieceOf(flags: readonly CompiledFlag[], count: number, isFirst: boolean): Piece {
  const piece = { flags, texts: new Array<string>(count).fill('') }
  const [key] = flags
  // The texts of the first piece start without a comma.
  if (key === undefined || isFirst) return piece
  const known = knownPieces.get(key)
  if (known?.flags.length === flags.length && known.flags.every((flag, at) => flag === flags[at])) {
    return known
  }
  knownPieces.set(key, piece)
  return piece
}
