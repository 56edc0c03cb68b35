import { getOrMake } from '../model/get-or-make.ts'
import {
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  jsonEquals,
} from '../model/json.ts'

type Structure = JsonArray | JsonObject

/** So few of one size are compared one by one, and more are found by their text. */
const FEW = 4

/** Arrays and objects, found in a time that grows with the value that is looked up, not with the set. */
export class StructureSet {
  /** By the length of an array, and the number of names of an object. */
  readonly #bySize = new Map<number, Structure[]>()
  readonly #byText = new Map<string, Structure[]>()

  add(structure: Structure): void {
    if (this.has(structure)) return
    getOrMake(this.#bySize, sizeOf(structure), () => []).push(structure)
    getOrMake(this.#byText, textOf(structure), () => []).push(structure)
  }

  /** Whether a structure equals the value. */
  has(value: JsonValue): boolean {
    if (this.#bySize.size === 0 || !(Array.isArray(value) || isJsonObject(value))) return false
    const ofSize = this.#bySize.get(sizeOf(value)) ?? []
    const similar = ofSize.length > FEW ? (this.#byText.get(textOf(value)) ?? []) : ofSize
    return similar.some((each) => jsonEquals(each, value))
  }
}

/** Negative for objects. */
function sizeOf(structure: Structure): number {
  return Array.isArray(structure) ? structure.length : -1 - Object.keys(structure).length
}

/** A text that equal structures have in common. */
function textOf(structure: Structure): string {
  try {
    return JSON.stringify(structure, sortNames) ?? ''
  } catch {
    // It is nested deeper than the stack, or no JSON. `jsonEquals` copes with both.
    return ''
  }
}

function sortNames(_name: string, value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value
  const members = Object.keys(value).sort()
  return Object.fromEntries(members.map((name) => [name, value[name] ?? null]))
}
