/** The texts of the tab with code that reads a flag. */
export const code = {
  client: 'Client',
  inProcess: 'In process',
  curl: 'HTTP',
  copy: (name: string) => `Copy: ${name}`,
  hints: {
    client:
      'For Node and browsers. The server evaluates the flags; the SDK key selects the environment. In a browser, use a key of the kind client.',
    inProcess: 'For an application that runs the flag server itself. No SDK key is needed.',
    curl: 'Returns the values of all flags for a context.',
  },
} as const
