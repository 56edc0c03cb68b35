/** Groups by their size. The largest is found without looking at all of them. */
export class BySize<Group extends { readonly size: number }> {
  /** The groups of each size; absent if there are none. */
  readonly #groups: (Set<Group> | undefined)[] = []
  readonly #sizes = new Map<Group, number>()

  constructor(groups: Iterable<Group>) {
    for (const group of groups) this.update(group)
  }

  /** Notes the present size of a group. An empty group is forgotten. */
  update(group: Group): void {
    const { size } = group
    const before = this.#sizes.get(group)
    if (before === size) return
    if (before !== undefined) this.#remove(group, before)
    if (size === 0) {
      this.#sizes.delete(group)
      return
    }
    this.#sizes.set(group, size)
    const equals = this.#groups[size] ?? new Set()
    this.#groups[size] = equals.add(group)
  }

  /** Returns a group of the greatest size; `undefined` if there are no groups. */
  largest(): Group | undefined {
    for (; this.#groups.length > 0; this.#groups.pop()) {
      for (const group of this.#groups.at(-1) ?? []) return group
    }
    return undefined
  }

  #remove(group: Group, size: number): void {
    const equals = this.#groups[size]
    equals?.delete(group)
    if (equals?.size === 0) this.#groups[size] = undefined
  }
}
