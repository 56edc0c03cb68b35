/** The texts of the command bar. */
export const commandBar = {
  title: 'Command bar',
  open: 'Open the command bar',
  placeholder: 'Find a page or a flag, “switch off checkout in live”, “why user-42”',
  results: 'Commands',
  none: 'No command matches.',
  failed: 'The flags could not be searched.',
  groups: {
    page: 'Page',
    environment: 'Environment',
    flag: 'Flag',
    switch: 'Switch',
    why: 'Explain',
    setting: 'Setting',
  },
  goTo: (page: string) => `Go to ${page}`,
  newFlag: 'Create a flag',
  environment: (name: string) => `Flags in ${name}`,
  switchOff: (flag: string, environment: string) => `Switch off ${flag} in ${environment}`,
  switchOn: (flag: string, environment: string) => `Switch on ${flag} in ${environment}`,
  why: (user: string) => `Why does ${user} get its variations`,
  theme: (theme: string) => `Theme: ${theme}`,
} as const
