import { type Fragment, phrase, type Sentence } from '../phrases/fragment.ts'
import { counted, number, percent } from '../phrases/numbers.ts'

const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'short' })

/** The sentences of the cells of the list of flags. */
const cells = {
  off: (served: Sentence) => phrase`off: everyone gets ${served}`,
  everyone: (served: Sentence) => phrase`everyone gets ${served}`,
  nothing: phrase`no variation`,
  gets: (share: number, variation: Fragment) => phrase`${percent(share)} get ${variation}`,
  nextStep: (words: Sentence, time: string) =>
    phrase`${words}, next step ${times.format(new Date(time))}`,
  more: (count: number) => phrase`${number(count)} more`,
  rules: (count: number) => phrase`${counted(count, 'rule', 'rules')}`,
  targets: (count: number) => phrase`${counted(count, 'target', 'targets')}`,
  prerequisites: (count: number) => phrase`${counted(count, 'prerequisite', 'prerequisites')}`,
  parts: (words: Sentence, parts: Sentence) =>
    parts.length === 0 ? words : phrase`${words} · ${parts}`,
  /** Rules with conditions, and the variations that they serve. */
  serves: (rules: number, served: Sentence) =>
    phrase`${counted(rules, 'rule serves', 'rules serve')} ${served}`,
  /** A rollout to the contexts that match a rule. */
  within: (rules: number, shares: Sentence) =>
    phrase`${counted(rules, 'rule', 'rules, one')}: ${shares}`,
  others: (words: Sentence, served: Sentence) => phrase`${words}; others get ${served}`,
} as const

/** The texts of the list of flags. */
export const flags = {
  title: 'Flags',
  newTitle: 'New flag',
  newFlag: 'New flag',
  tableLabel: 'Flags of the project',
  search: 'Key, name or description',
  count: (count: number) => counted(count, 'flag', 'flags'),
  filters: 'Filters',
  clearFilters: 'Clear filters',
  any: 'Any',
  type: 'Type',
  tag: 'Tag',
  tagHint: 'Any tag',
  state: 'State',
  environment: 'Environment',
  archived: 'Archived',
  sort: 'Sort',
  columns: 'Columns',
  environments: 'Environments',
  isRead: 'Loading flags',
  types: { boolean: 'boolean', string: 'string', number: 'number', json: 'JSON' },
  states: {
    on: 'On',
    off: 'Off',
    rollout: 'Rollout',
    experiment: 'Experiment',
    gradual: 'Gradual rollout',
    scheduled: 'Scheduled change',
    differs: 'Differs between environments',
    unused: 'Unused for 30 days',
  },
  archives: { hidden: 'Not archived', only: 'Archived only' },
  sorts: {
    'key:asc': 'Key, A to Z',
    'key:desc': 'Key, Z to A',
    'name:asc': 'Name, A to Z',
    'name:desc': 'Name, Z to A',
    'updated_at:desc': 'Last changed first',
    'updated_at:asc': 'Last changed last',
    'created_at:desc': 'Newest first',
    'created_at:asc': 'Oldest first',
  },
  compact: 'Compact rows',
  columnNames: { key: 'Key', name: 'Name', type: 'Type', tags: 'Tags', updated: 'Changed' },
  sortBy: (column: string) => `Sort by ${column}`,
  cells,
  marks: {
    draft: 'draft',
    draftHint: 'This tab has an unpublished draft.',
    fieldsDraftHint: 'This tab has unsaved changes of the variations or settings.',
    scheduled: 'scheduled',
    scheduledHint: (count: number) =>
      counted(count, 'scheduled change is pending.', 'scheduled changes are pending.'),
    differs: 'differs',
    differsHint: 'The configuration differs between environments.',
    unused: 'unused',
    unusedHint: 'No environment has evaluated this flag for 30 days.',
    archived: 'archived',
    archivedHint: 'An archived flag is not evaluated.',
  },
  moreTags: (count: number) => `+${number(count)}`,
  filterByTag: (tag: string) => `Show the flags with the tag ${tag}`,
  empty: 'No flag yet. Create one, or send this request.',
  emptyWithoutPermission: 'No flag yet.',
  snippet: (address: string) =>
    `curl -X POST ${address} \\
  -H "Authorization: Bearer $FF_TOKEN" -H "Content-Type: application/json" \\
  -d '{"key": "new-checkout", "name": "New checkout", "type": "boolean"}'`,
  noResults: 'No flag matches the search and the filters.',
  noEnvironments: 'This project has no environments.',
  loadFailed: 'The flags could not be loaded.',
  partFailed: 'These flags could not be loaded.',
  focusSearch: 'Search flags',
  nextRow: 'Next flag',
  previousRow: 'Previous flag',
  switchRow: 'Switch the selected flag on or off, after a question',
} as const
