import { phrase, type Sentence } from '../phrases/fragment.ts'

const numbers = new Intl.NumberFormat()
const keysOf = (count: number) => (count === 1 ? '1 key' : `${numbers.format(count)} keys`)
const plain = (text: string): Sentence => [{ text, kind: 'plain' }]

const operators = {
  AND: 'all of these conditions are true',
  OR: 'at least one of these conditions is true',
  NOT: 'none of these conditions is true',
} as const

const lists = {
  included: {
    title: 'Included keys',
    hint: 'These keys are in the segment, whatever the conditions say.',
    add: 'Add included keys',
    remove: 'Remove included keys',
  },
  excluded: {
    title: 'Excluded keys',
    hint: 'These keys are never in the segment.',
    add: 'Add excluded keys',
    remove: 'Remove excluded keys',
  },
} as const

const changes = {
  name: (before: Sentence, after: Sentence) => phrase`Name: ${before} → ${after}`,
  description: (before: Sentence, after: Sentence) => phrase`Description: ${before} → ${after}`,
  keyAttribute: (before: Sentence, after: Sentence) =>
    phrase`Attribute of the listed keys: ${before} → ${after}`,
  operator: (before: keyof typeof operators, after: keyof typeof operators) =>
    phrase`In the segment if ${operators[before]} → if ${operators[after]}`,
  forced: plain('Every context is in the segment, except the excluded keys'),
  notForced: plain('The conditions decide again'),
  conditions: (words: Sentence) => phrase`Conditions: ${words}`,
  keysAdded: (list: keyof typeof lists, count: number, words: Sentence) =>
    phrase`${lists[list].title}: ${keysOf(count)} added (${words})`,
  keysRemoved: (list: keyof typeof lists, count: number, words: Sentence) =>
    phrase`${lists[list].title}: ${keysOf(count)} removed (${words})`,
}

/** The texts of the pages in `pages/segments`. */
export const segments = {
  title: 'Segments',
  segmentTitle: 'Segment',
  hint: 'A segment is a group of contexts. The rules of all flags of the project can use it, in every environment.',
  empty: 'There is no segment yet. A segment is a group of contexts that rules can use.',
  create: 'New segment',
  createSegment: 'Create segment',
  name: 'Name',
  key: 'Key',
  keyHint: 'Identifies the segment in the API. It cannot be changed.',
  description: 'Description',
  contains: 'Contains',
  listed: 'Listed keys',
  changed: 'Changed',
  everything: 'every context',
  onlyListed: 'only listed keys',
  counts: (included: number, excluded: number) => {
    if (included + excluded === 0) return 'none'
    const words = keysOf(included)
    return excluded === 0 ? words : `${words}, ${numbers.format(excluded)} excluded`
  },
  settings: 'Settings',
  conditions: 'Conditions',
  operator: 'A context is in the segment if',
  operators,
  force: 'Every context is in the segment, except the excluded keys',
  forceHint: 'The conditions are then not used.',
  noConditions: 'There are no conditions: only included keys are in the segment.',
  addCondition: 'Add a condition',
  listedHint: 'The listed keys are values of this attribute.',
  keyAttribute: 'Attribute of the listed keys',
  keyAttributeFixed: 'It cannot be changed while keys are listed.',
  lists,
  count: keysOf,
  pendingAdd: (count: number) => `${keysOf(count)} will be added.`,
  pendingRemove: (count: number) => `${keysOf(count)} will be removed.`,
  addKeys: 'Add keys',
  removeKeys: 'Remove keys',
  pasteKeys: 'Keys, one per line',
  changes,
  changeCount: (count: number) => (count === 1 ? '1 change' : `${numbers.format(count)} changes`),
  bar: 'Unsaved changes',
  draft: 'Unsaved changes in this tab',
  discard: 'Discard',
  discardTitle: 'Discard the changes',
  discardHint: 'All unsaved changes of this segment are removed.',
  review: 'Review and save',
  reviewTitle: (name: string) => `Save the changes of ${name}`,
  everywhere: 'The changes apply in every environment at once.',
  note: 'Note',
  noteHint: 'The reason for the change. It is kept in the audit log.',
  noteRequired: 'An environment requires a note.',
  save: 'Save in all environments',
  saved: (name: string) => `The segment ${name} is saved.`,
  notSaved: 'The segment was not saved. The changes are kept.',
  partlySaved:
    'Only a part of the changes was saved. The others are kept. Review them, and save again.',
  newer: 'This segment was changed elsewhere.',
  newerHint: 'Your changes are kept and apply to the newer version. Review them again.',
  useNewer: 'Apply my changes to the newer version',
  deleteSegment: 'Delete segment',
  deleteTitle: (name: string) => `Delete the segment ${name}`,
  deleteHint: 'The segment and its listed keys are deleted. This cannot be undone.',
  deleted: (name: string) => `The segment ${name} is deleted.`,
  notDeleted: 'The segment was not deleted.',
  inUse: 'These use the segment. Remove it from them first:',
  user: (resource: string, name: string) => `${resource.replaceAll('_', ' ')} ${name}`,
} as const
