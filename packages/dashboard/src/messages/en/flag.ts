/** The texts of the pages in `pages/flag`. */
export const flag = {
  title: 'Flag',
  archived: 'Archived',
  copyKey: 'Copy the key',
  tryOut: 'Try it in the playground',
  types: { boolean: 'Boolean', string: 'String', number: 'Number', json: 'JSON' },
  noEnvironments: 'This project has no environment.',
  environments: 'Environments',
  subjects: 'Subjects',
  tabs: {
    targeting: 'Targeting',
    variations: 'Variations',
    history: 'History',
    code: 'Code',
    settings: 'Settings',
  },
  states: { on: 'On', off: 'Off' },
} as const
