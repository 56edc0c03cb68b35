/** How a database declares the columns that not all declare alike. */
export interface ColumnDeclarations {
  /** Text that is compared and sorted by code point. */
  readonly text: string
  /** A double. */
  readonly real: string
}

/** One step of the schema. Once released it is never edited; a later one follows it. */
export interface Migration {
  /** A number that gives the order, and what it is about. */
  readonly name: string
  readonly statements: (columns: ColumnDeclarations) => readonly string[]
}
