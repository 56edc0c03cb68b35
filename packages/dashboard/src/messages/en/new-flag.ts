import { number } from '../phrases/numbers.ts'

/** The texts of the form of a new flag. */
export const newFlag = {
  name: 'Name',
  key: 'Key',
  keyHint: 'Identifies the flag in code. It cannot be changed.',
  type: 'Type',
  typeHints: {
    boolean: 'Serves true or false.',
    string: 'Serves texts.',
    number: 'Serves numbers.',
    json: 'Serves JSON values, such as objects and lists.',
  },
  variations: 'Variations',
  variationKey: (position: number) => `Key of variation ${position}`,
  variationValue: (position: number) => `Value of variation ${position}`,
  addVariation: 'Add a variation',
  removeVariation: (key: string) => `Remove variation ${key}`,
  remove: 'Remove',
  initialKey: (position: number) => `variation-${position}`,
  served: 'Everyone gets',
  servedHint: 'The default variation, until the flag has rules.',
  states: 'On in',
  statesHint: 'A flag that is off serves its off variation.',
  comment: 'Comment',
  commentHint: 'An environment requires a comment. It is recorded in the history.',
  commentMissing: 'Enter a comment.',
  create: 'Create flag',
  discard: 'Discard',
  nameMissing: 'Enter a name.',
  keyMissing: 'Enter a key.',
  keyTaken: 'A flag with this key already exists.',
  notNumber: 'This is not a number.',
  failed: 'The flag was not created.',
  notChecked: 'Some fields are not valid.',
  partly: (key: string) => `The flag ${key} was created.`,
  notSwitched: (environment: string, reason: string) =>
    `It was not switched off in ${environment}: ${reason}`,
  switched: (environments: readonly string[]) =>
    `It is off in ${new Intl.ListFormat('en').format(environments)}.`,
  tryAgain: 'Try to switch off again',
  open: 'Open the flag',
  created: (name: string) => `${name} was created.`,
  json: {
    invalidAt: (line: number, column: number) =>
      `This is not valid JSON: line ${number(line)}, column ${number(column)}.`,
    format: 'Format',
  },
} as const
