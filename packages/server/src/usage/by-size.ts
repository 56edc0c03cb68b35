/** Groups by their size. The largest is found without looking at all of them. */
export class BySize<Group extends { readonly size: number }> {
  /** The groups of each size. */
  readonly #groups: Set<Group>[] = []
  readonly #sizes = new Map<Group, number>()

  /** Notes the present size of a group. An empty group is forgotten. */
  update(group: Group): void {
    const { size } = group
    const before = this.#sizes.get(group)
    if (before === size) return
    if (before !== undefined) this.#groups[before]?.delete(group)
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

  clear(): void {
    this.#groups.length = 0
    this.#sizes.clear()
  }
}
