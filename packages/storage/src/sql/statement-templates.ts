import type { SqlStatement, SqlValue } from './sql-driver.ts'

interface Compiled {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

interface Composed {
  compile(): Compiled
}

/** The statement of a query without placeholders. */
export function toStatement({ sql, parameters }: Compiled): SqlStatement {
  return { sql, parameters: parameters as readonly SqlValue[] }
}

/** A limit for the shapes, whose number depends on the fields that are changed together. */
const MOST_TEMPLATES = 1000

/** Stands for a value in a template. */
class Placeholder {
  readonly index: number

  constructor(index: number) {
    this.index = index
  }

  /** Makes shapes independent of values. */
  toJSON(): string {
    return '?'
  }
}

/** Collects the values of a statement and creates a placeholder for each. */
export class Placeholders {
  readonly values: SqlValue[] = []

  /** Adds a value and returns its placeholder. */
  for<T extends SqlValue>(value: T): T {
    this.values.push(value)
    return new Placeholder(this.values.length - 1) as unknown as T
  }
}

/** A compiled statement; statements of one shape differ only in the placeholders. */
interface Template {
  readonly sql: string
  readonly parameters: readonly (Placeholder | SqlValue)[]
}

/** Composing a statement takes longer than running it, so each shape of statement is composed once. */
export class StatementTemplates {
  readonly #templates = new Map<string, Template>()

  /** Returns the statement with these values; `compose` returns the same query for each `shape`. */
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
