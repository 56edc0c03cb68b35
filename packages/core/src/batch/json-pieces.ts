import type { CompiledFlag } from '../evaluation/flag.ts'
import { servedBy } from '../evaluation/outcome.ts'

/** How many characters all texts of a piece may have. More make fewer pieces, and need more memory. */
const MAX_CHARACTERS = 16_384

/** Neighbouring flags, and what is written for each combination of their values. */
interface Piece {
  readonly flags: readonly CompiledFlag[]
  /** By the number of the combination; empty until it is first asked for. */
  readonly texts: string[]
}

/**
 * The JSON text of all flags of a set. To join a text of every flag takes as
 * long as to evaluate them, so those of neighbours are joined once for each combination of their
 * values, and kept: four flags of two variations each are one piece.
 */
export class JsonPieces {
  readonly #pieces: readonly Piece[]
  /** By flag: what its value counts for in the number of a combination. */
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
    this.#pieces = [...pieces, pieceOf(flags.slice(first), count, first === 0)]
  }

  /** For the codes from `start` on, one for each flag. */
  join(codes: Int32Array, start: number): string {
    let text = '{'
    let at = 0
    for (const { flags, texts } of this.#pieces) {
      const first = at
      let combination = 0
      for (const end = first + flags.length; at < end; at += 1) {
        combination += (this.#weights[at] ?? 0) * servedBy(codes[start + at] ?? 0)
      }
      if (texts[combination] === '') {
        const members = flags.map((flag, index) => {
          return flag.members[servedBy(codes[start + first + index] ?? 0)]
        })
        // Only the very first member has no comma before it.
        texts[combination] = first === 0 ? members.join('').slice(1) : members.join('')
      }
      text += texts[combination] ?? ''
    }
    return `${text}}`
  }
}

/** By their first flag: an unchanged piece of one version is one of the next as well. */
const knownPieces = new WeakMap<CompiledFlag, Piece>()

function pieceOf(flags: readonly CompiledFlag[], count: number, isFirst: boolean): Piece {
  const [key] = flags
  const known = key === undefined || isFirst ? undefined : knownPieces.get(key)
  if (known?.flags.length === flags.length && known.flags.every((flag, at) => flag === flags[at])) {
    return known
  }
  const piece = { flags, texts: new Array<string>(count).fill('') }
  if (key !== undefined && !isFirst) knownPieces.set(key, piece)
  return piece
}
