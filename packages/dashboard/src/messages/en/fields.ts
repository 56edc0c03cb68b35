const lists = new Intl.ListFormat('en', { type: 'conjunction' })

const NAMES: Readonly<Record<string, string>> = {
  name: 'name',
  description: 'description',
  tags: 'tags',
  clientVisible: 'visibility for clients',
  value: 'value',
  isDefault: 'default',
}

const namesOf = (fields: readonly string[]) =>
  lists.format(fields.map((name) => NAMES[name] ?? name))

const variations = {
  add: 'Add a variation',
  key: 'Key',
  keyHint: 'Identifies the variation in the API. It cannot be changed later.',
  name: 'Name',
  description: 'Description',
  value: 'Value',
  isDefault: 'Default variation of the flag',
  defaultHint: 'Environments without a default variation of their own serve it.',
  moveUp: (key: string) => `Move ${key} up`,
  moveDown: (key: string) => `Move ${key} down`,
  remove: (key: string) => `Remove ${key}`,
  removeDefault: 'The default variation cannot be removed. Choose another default first.',
  newVariation: 'New variation',
  more: 'More',
  format: 'Format',
  isTrue: 'true',
  isFalse: 'false',
  faults: {
    number: 'must be a number, such as 42 or 0.5',
    inexact: 'must not be an integer beyond 9007199254740991',
    boolean: 'must be true or false',
    json: ({ line, column }: { readonly line: number; readonly column: number }) =>
      `is not valid JSON at line ${line}, column ${column}`,
    key: 'must be unique among the variations',
    keyRequired: 'is required',
  },
  faulty: 'A variation has a fault. Correct it first.',
} as const

const settings = {
  name: 'Name',
  description: 'Description',
  tags: 'Tags',
  addTag: 'Add a tag',
  addTagHint: 'Enter adds the tag.',
  add: 'Add',
  removeTag: (tag: string) => `Remove the tag ${tag}`,
  clientVisible: 'SDK keys of kind client can see the flag',
  archiveTitle: 'Archive',
  archiveHint: 'An archived flag is removed from all evaluations. It can be restored.',
  archive: 'Archive the flag',
  archiveQuestion: (name: string) => `Archive ${name}?`,
  archiveEffect: 'Clients get their fallback value in every environment, effective immediately.',
  restore: 'Restore the flag',
  restoreHint: 'The flag is archived. Restoring it evaluates it again, as it is configured.',
  deleteTitle: 'Delete',
  deleteHint: 'Deletes the flag with its configuration in all environments. It cannot be restored.',
  delete: 'Delete the flag',
  deleteQuestion: (name: string) => `Delete ${name}?`,
  typeKey: (key: string) => `Enter the key ${key} to confirm`,
  archived: (name: string) => `${name} is archived.`,
  restored: (name: string) => `${name} is restored.`,
  deleted: (name: string) => `${name} is deleted.`,
  notArchived: 'The flag could not be archived.',
  notRestored: 'The flag could not be restored.',
  notDeleted: 'The flag could not be deleted.',
} as const

/** The texts of the fields that a flag has in all environments: variations and settings. */
export const fields = {
  bar: 'Unsaved changes',
  summary: (count: number) =>
    count === 1 ? 'Save makes this change:' : `Save makes ${count} changes, one after another:`,
  overwritten: (settings: readonly string[], variations: readonly string[]) => {
    const names = [
      ...settings.map((field) => NAMES[field] ?? field),
      ...variations.map((key) => `variation ${key}`),
    ]
    return `Changed elsewhere since you began: ${lists.format(names)}. Save replaces these values with yours.`
  },
  everywhere: 'These changes apply to all environments at once.',
  faultySettings: 'A setting has a fault. Correct it first.',
  save: 'Save',
  discard: 'Discard',
  change: (names: readonly string[]) => `Change the ${namesOf(names)} of the flag`,
  create: (key: string) => (key === '' ? 'Create a variation' : `Create the variation ${key}`),
  changeVariation: (key: string, names: readonly string[]) =>
    `Change the ${namesOf(names)} of the variation ${key}`,
  delete: (key: string) => `Delete the variation ${key}`,
  reorder: 'Change the order of the variations',
  failed: (step: string) => `Not done: ${step}`,
  saved: (steps: readonly string[]) => `Already saved: ${lists.format(steps)}.`,
  notSaved: (steps: readonly string[]) => `Not sent: ${lists.format(steps)}.`,
  savedNotLoaded: 'Everything is saved, but the flag could not be loaded again.',
  variations,
  settings,
} as const
