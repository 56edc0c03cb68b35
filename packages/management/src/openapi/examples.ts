import examples from './examples.json' with { type: 'json' }

/** An example of a request to an operation and its response. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly response?: unknown
}

const ALL: Readonly<Record<string, Example | undefined>> = examples

/**
 * Returns the example of an operation; `{}` if the operation has no example. Each example is also a
 * golden file.
 */
export function exampleOf(name: string): Example {
  return ALL[name] ?? {}
}
