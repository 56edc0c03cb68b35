import type { SqlStatement, SqlValue } from './sql-driver.ts'

interface Compiled {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

interface Composed {
  compile(): Compiled
}

/** Converts a compiled query without placeholders to a statement. */
export function toStatement({ sql, parameters }: Compiled): SqlStatement {
  return { sql, parameters: parameters as readonly SqlValue[] }
}

/** The maximum number of cached templates. Each combination of changed fields needs a template. */
const MOST_TEMPLATES = 1000

/** The position of a value in a template. */
class Placeholder {
  readonly index: number

  constructor(index: number) {
    this.index = index
  }

  /** Returns the same text for every value, so that the shape of a statement contains no values. */
  toJSON(): string {
    return '?'
  }
}

/** The values of a statement, each with a placeholder. */
export class Placeholders {
  readonly values: SqlValue[] = []

  /** Adds a value and returns its placeholder. */
  for<T extends SqlValue>(value: T): T {
    this.values.push(value)
    return new Placeholder(this.values.length - 1) as unknown as T
  }
}

/** A compiled statement. Statements of one shape differ only in the values of its placeholders. */
interface Template {
  readonly sql: string
  readonly parameters: readonly (Placeholder | SqlValue)[]
}

/** A cache of compiled statements by shape. Compiling a statement takes longer than running it. */
export class StatementTemplates {
  readonly #templates = new Map<string, Template>()

  /**
   * Returns a statement with these values. `shape` identifies the query: statements of one shape
   * differ only in their values. If the shape is not cached, `compose` creates the query, which
   * must be the same for each call with this `shape`.
   */
  fill(shape: string, { values }: Placeholders, compose: () => Composed): SqlStatement {
    const { sql, parameters } = this.#templates.get(shape) ?? this.#keep(shape, compose())
    return {
      sql,
      parameters: parameters.map((each) =>
        each instanceof Placeholder ? (values[each.index] ?? null) : each,
      ),
    }
  }

  #keep(shape: string, composed: Composed): Template {
    if (this.#templates.size >= MOST_TEMPLATES) this.#templates.clear()
    const template = composed.compile() as Template
    this.#templates.set(shape, template)
    return template
  }
}
