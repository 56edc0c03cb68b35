/**
 * Texts from which a server starts while its store is unavailable, by name. A name contains
 * lower-case letters, digits and hyphens only. Several processes can use the same snapshots.
 */
export interface Snapshots {
  /** Makes the snapshots ready for use. Throws `INVALID_REQUEST` if they cannot be saved. */
  open(): Promise<void>

  /**
   * Returns a snapshot; `undefined` if there is none with this name. Throws `INVALID_DEFINITION` if
   * it is damaged or has the format of a later release, and `UNAVAILABLE` if it cannot be read.
   */
  load(name: string): Promise<Snapshot | undefined>

  /**
   * Replaces a snapshot completely or not at all. The snapshot is durable when the promise resolves.
   * The parts of the text are read over several turns of the event loop. Throws `UNAVAILABLE` if it
   * cannot be saved.
   */
  save(name: string, parts: Iterable<string>): Promise<void>

  /** Notes that snapshots were up to date at a time, in epoch milliseconds. Omits missing ones. */
  confirm(names: readonly string[], at: number): Promise<void>

  /** Removes the snapshots that were last saved or confirmed before a time. */
  removeUnconfirmed(before: number): Promise<void>
}

/** A saved text. */
export interface Snapshot {
  readonly text: string
  /** The last time at which it was saved or confirmed, in epoch milliseconds. */
  readonly confirmedAt: number
}
