import { getOrMake } from '../model/get-or-make.ts'
import {
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  jsonEquals,
} from '../model/json.ts'

type Structure = JsonArray | JsonObject

/** The number of structures of equal size up to which they are compared one by one. */
const FEW = 4

/** A set of arrays and objects. The time of a lookup depends on the value, not on the set. */
export class StructureSet {
  /** The structures by the length of an array or the number of properties of an object. */
  readonly #bySize = new Map<number, Structure[]>()
  readonly #byText = new Map<string, Structure[]>()

  add(structure: Structure): void {
    if (this.has(structure)) return
    getOrMake(this.#bySize, sizeOf(structure), () => []).push(structure)
    getOrMake(this.#byText, textOf(structure), () => []).push(structure)
  }

  /** Returns `true` if the set contains a structure that is deeply equal to the value. */
  has(value: JsonValue): boolean {
    if (this.#bySize.size === 0 || !(Array.isArray(value) || isJsonObject(value))) return false
    const ofSize = this.#bySize.get(sizeOf(value)) ?? []
    const similar = ofSize.length > FEW ? (this.#byText.get(textOf(value)) ?? []) : ofSize
    return similar.some((each) => jsonEquals(each, value))
  }
}

/** Returns the length of an array, or a negative number for the size of an object. */
function sizeOf(structure: Structure): number {
  return Array.isArray(structure) ? structure.length : -1 - Object.keys(structure).length
}

/** Returns a text that is the same for equal structures. */
function textOf(structure: Structure): string {
  try {
    return JSON.stringify(structure, sortNames) ?? ''
  } catch {
    // The value is nested too deeply for the stack, or is not JSON. `jsonEquals` accepts both.
    return ''
  }
}

function sortNames(_name: string, value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value
  const members = Object.keys(value).sort()
  return Object.fromEntries(members.map((name) => [name, value[name] ?? null]))
}
