/** The texts in place of what was deleted, or never existed. */
export const gone = {
  environment: (key: string) => `The environment “${key}” does not exist`,
  flag: (name: string) => `The flag “${name}” does not exist`,
  segment: (name: string) => `The segment “${name}” does not exist`,
  project: 'This project does not exist',
  deletedBy: (name: string) => `${name} deleted it`,
  hint: 'It was deleted, or the address names another one.',
  environments: 'Environments of this project',
  flags: 'Flags of this project',
  segments: 'Segments of this project',
  draft: 'Your unpublished changes of it are kept until you discard them.',
  discard: 'Discard the changes',
}
