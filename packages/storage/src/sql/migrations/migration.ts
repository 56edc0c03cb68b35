/** The declarations that differ between databases. */
export interface ColumnDeclarations {
  /** A text type that is compared and sorted by code point. */
  readonly text: string
  /** A double-precision floating-point type. */
  readonly real: string
  /** An integer type for all safe integers of JavaScript. */
  readonly integer: string
  /**
   * Returns what an index is on, for finding the rows that have a text of any length, also those of
   * an owner: PostgreSQL cannot insert a row into another kind of index if its texts have more than
   * 2,704 bytes.
   */
  readonly longText: (text: string, owner?: string) => string
}

/** A change of the schema. A released migration is never edited: add a new migration instead. */
export interface Migration {
  /** A number, which determines the order, and a short description. */
  readonly name: string
  /** Returns the SQL statements in the order in which they run. */
  readonly statements: (columns: ColumnDeclarations) => readonly string[]
}
