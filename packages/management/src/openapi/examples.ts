import examples from './examples.json' with { type: 'json' }

/** What an endpoint takes and answers, for instance. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly response?: unknown
}

const ALL: Readonly<Record<string, Example | undefined>> = examples

/** The example of an operation: the same that the codecs of the wire are tested with. */
export function exampleOf(name: string): Example {
  return ALL[name] ?? {}
}
