/** The texts of the tab with code that reads a flag. */
export const code = {
  client: 'Client',
  inProcess: 'In process',
  curl: 'HTTP',
  copy: (name: string) => `Copy: ${name}`,
  hints: {
    client: 'Reads values that the server has evaluated. The SDK key selects the environment.',
    inProcess: 'Evaluates in the process of the server.',
    curl: 'Returns the values of all flags for a context.',
  },
} as const
