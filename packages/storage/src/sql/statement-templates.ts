import type { SqlStatement, SqlValue } from './sql-driver.ts'

interface Composed {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] }
}

/** As many shapes as there are places that ask, and fields that are changed together. */
const MOST_TEMPLATES = 1000

/** Stands where a value will be. */
class Blank {
  readonly index: number

  constructor(index: number) {
    this.index = index
  }

  /** Values are no part of a shape. */
  toJSON(): string {
    return '?'
  }
}

/** The values of a statement, in the order in which they were given, and blanks in their place. */
export class Blanks {
  readonly values: SqlValue[] = []

  /** Takes a value, and answers what to compose with in its place. */
  for<T extends SqlValue>(value: T): T {
    this.values.push(value)
    return new Blank(this.values.length - 1) as unknown as T
  }
}

/** The statements of one shape: what is no blank is the same for all of them. */
interface Template {
  readonly sql: string
  readonly parameters: readonly (Blank | SqlValue)[]
}

/** Composing a statement takes longer than running it, so each shape of statement is composed once. */
export class StatementTemplates {
  readonly #templates = new Map<string, Template>()

  /** The statement with these values; `compose` makes one with blanks, alike for each `shape`. */
  fill(shape: string, { values }: Blanks, compose: () => Composed): SqlStatement {
    const { sql, parameters } = this.#templates.get(shape) ?? this.#keep(shape, compose())
    return {
      sql,
      parameters: parameters.map((each) =>
        each instanceof Blank ? (values[each.index] ?? null) : each,
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
