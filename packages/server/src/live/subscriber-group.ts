/** The sessions of one flag-set scope whose contexts are equal; the same object while it has sessions. */
export interface SubscriberGroup {
  /** Unique among the groups of the scope. */
  readonly name: string
  /** The context, as `HeldContext` has it. */
  readonly text: string
  readonly contextHash: string
}
