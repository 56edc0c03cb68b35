import {
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  jsonEquals,
} from './json.ts'

type Structure = JsonArray | JsonObject

/** So few of one size are compared one by one, and more found by their text. */
const FEW = 4

/** Arrays and objects, found in a time that grows with the value that is looked up, not with the set. */
export class StructureSet {
  readonly #bySize = new Map<number, SameSize>()

  add(structure: Structure): void {
    const size = sizeOf(structure)
    const known = this.#bySize.get(size)
    if (known === undefined) this.#bySize.set(size, new SameSize(structure))
    else if (!known.has(structure)) known.add(structure)
  }

  /** Whether a structure equals the value. */
  has(value: JsonValue): boolean {
    if (this.#bySize.size === 0 || !isStructure(value)) return false
    return this.#bySize.get(sizeOf(value))?.has(value) === true
  }
}

/** Arrays of one length, or objects with one number of names. */
class SameSize {
  readonly #all: Structure[]
  /** By their texts, which equal structures have in common; made when there are many. */
  #byText: Map<string, Structure[]> | undefined

  constructor(first: Structure) {
    this.#all = [first]
  }

  add(structure: Structure): void {
    this.#all.push(structure)
    if (this.#byText !== undefined) addTo(this.#byText, structure)
    else if (this.#all.length > FEW) {
      this.#byText = new Map()
      for (const each of this.#all) addTo(this.#byText, each)
    }
  }

  has(value: Structure): boolean {
    const similar = this.#byText === undefined ? this.#all : this.#byText.get(textOf(value))
    return similar?.some((each) => jsonEquals(each, value)) === true
  }
}

function addTo(byText: Map<string, Structure[]>, structure: Structure): void {
  const text = textOf(structure)
  const known = byText.get(text)
  if (known === undefined) byText.set(text, [structure])
  else known.push(structure)
}

function isStructure(value: JsonValue): value is Structure {
  return Array.isArray(value) || isJsonObject(value)
}

/** Negative for objects. */
function sizeOf(structure: Structure): number {
  return Array.isArray(structure) ? structure.length : -1 - Object.keys(structure).length
}

/** What lies deeper, or after so many parts, is left out. No accepted context has as much. */
const MAX_DEPTH = 40
const MAX_PARTS = 4096

/** A text in which every part has a length or an end. */
function textOf(structure: Structure): string {
  const pieces: string[] = []
  addPieces(structure, MAX_DEPTH, pieces)
  return pieces.join('')
}

/** Copes with values that are not JSON: `jsonEquals` decides in the end. */
function addPieces(value: unknown, depthLeft: number, pieces: string[]): void {
  if (typeof value === 'string') pieces.push('"', String(value.length), ':', value)
  else if (typeof value !== 'object' || value === null)
    pieces.push(`${typeof value}:`, scalar(value))
  else if (depthLeft === 0 || pieces.length > MAX_PARTS) pieces.push('…')
  else if (Array.isArray(value)) {
    pieces.push('[')
    for (let at = 0; at < value.length && pieces.length <= MAX_PARTS; at += 1) {
      addPieces(value[at], depthLeft - 1, pieces)
    }
    pieces.push(']')
  } else {
    pieces.push('{')
    for (const name of Object.keys(value).sort()) {
      if (pieces.length > MAX_PARTS) break
      pieces.push(String(name.length), ':', name)
      addPieces((value as JsonObject)[name], depthLeft - 1, pieces)
    }
    pieces.push('}')
  }
}

function scalar(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? `${value};` : ';'
}
