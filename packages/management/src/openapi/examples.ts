import examples from './examples.json' with { type: 'json' }

/** An example of a request to an operation and its response. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly response?: unknown
}

const ALL: Readonly<Record<string, Example | undefined>> = examples

/** Returns the example of an operation, which is also a golden file; `{}` if there is none. */
export function exampleOf(name: string): Example {
  return ALL[name] ?? {}
}
