import type { Sentence } from '../phrases/fragment.ts'
import { phrase } from '../phrases/fragment.ts'
import { draft } from './draft.ts'

const { percent, number } = draft
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

const targets = {
  title: 'Individual targets',
  none: 'No individual targets.',
  add: 'Add targets',
  edit: 'Edit',
  dialogAdd: 'Add individual targets',
  dialogEdit: 'Edit individual targets',
  variation: 'Variation',
  kind: 'Context kind',
  keys: 'Keys',
  keysHint: (count: number) =>
    count === 1 ? 'One key per line. 1 key.' : `One key per line. ${number(count)} keys.`,
  count: (count: number) => (count === 1 ? '1 key' : `${number(count)} keys`),
  moves: 'A key that another variation lists is moved to this variation.',
  save: 'Add to the draft',
  remove: 'Remove all',
  of: (kind: string, variation: string) => `Targets of kind ${kind} of ${variation}`,
} as const

const prerequisites = {
  title: 'Prerequisites',
  none: 'No prerequisites.',
  hint: 'Unless every prerequisite serves one of its variations, the off variation is served.',
  add: 'Add a flag',
  addVariation: 'Add a variation',
  remove: (flag: string) => `Remove the prerequisite ${flag}`,
  variations: (flag: string) => `Variations of ${flag}`,
  serves: 'serves',
} as const

const rules = {
  title: 'Rules',
  none: 'No rules. Everyone gets the default variation.',
  add: 'Add a rule',
  newName: (count: number) => `Rule ${count}`,
  list: 'Rules in the order of their evaluation',
  position: (index: number) => `${index + 1}.`,
  edit: (name: string) => `Edit the rule ${name}`,
  done: 'Done',
  actions: (name: string) => `Actions of the rule ${name}`,
  drag: (name: string) => `Drag the rule ${name}`,
  moveUp: 'Move up',
  moveDown: 'Move down',
  moveTo: 'Move to …',
  moveTitle: 'Move the rule',
  newPosition: 'New position',
  move: 'Move',
  moved: (name: string, index: number) => `${name} is now rule ${index + 1}.`,
  remove: 'Remove',
  name: 'Name',
  conditions: 'Conditions',
  everyone: 'No conditions: the rule applies to everyone.',
  addCondition: 'Add a condition',
  segment: 'Segment',
  anySegment: 'Any',
  serve: 'Serve',
  nothing: 'Choose what to serve',
  rollout: 'A rollout',
  missingSegment: (id: string) => `Segment ${id}`,
} as const

const rollout = {
  strategy: 'Kind of rollout',
  percentage: 'Percentage',
  variant: 'Experiment',
  gradual: 'Gradual',
  variation: 'Variation',
  share: 'Share',
  shareOf: (name: string) => `Share of ${name}`,
  weightOf: (name: string) => `Weight of ${name} in percent`,
  addVariation: 'Add a variation',
  equal: 'Equal weights',
  total: (total: number) => `Total ${percent(total)}`,
  rest: (rest: number) => `For ${percent(rest)}, the next rule is tried.`,
  removeVariation: (name: string) => `Remove ${name} from the rollout`,
  others: 'For everyone else, the next rule is tried, and the default rule at the end.',
  target: 'Up to (percent)',
  increment: 'Step (percent)',
  interval: 'Every (hours)',
  start: 'Start',
  startNow: 'Without a start, the first step is when the draft is published.',
  ends: (target: number, time: string) => `${percent(target)} from ${time}.`,
  chart: (count: number, target: number) =>
    `${number(count)} steps to ${percent(target)}, drawn over time.`,
  step: (at: number, percentage: number) => `${dates.format(at)}: ${percent(percentage)}`,
  more: 'More',
  attribute: 'Attribute',
  attributeHint: 'Contexts with the same value of this attribute get the same variation.',
  salt: 'Salt',
  saltEmpty: 'The server chooses a random salt.',
  changeSalt: 'Change the salt',
  saltWarning: 'With another salt, everyone is reassigned.',
  changeSaltAnyway: 'Change the salt and reassign everyone',
  scheme: 'Scheme',
  name: 'Name of the rollout',
  change: (before: number, after: number, moves: Sentence) =>
    phrase`${percent(before)} → ${percent(after)}: ${moves}`,
  percentOf: (value: number) => percent(value),
} as const

/** The texts of the targeting of a flag. */
export const targeting = {
  targets,
  prerequisites,
  rules,
  rollout,
  switchTitle: 'Switch',
  undoShortcut: 'Undo a change of the draft; with Shift, redo it',
  draftSwitches: (isActive: boolean) =>
    `Publishing the draft switches the flag ${isActive ? 'on' : 'off'}.`,
  offVariation: 'When the flag is off, or a prerequisite is not met, serve',
  defaultTitle: 'Default rule',
  defaultVariation: 'Everyone else gets',
  defaultOfFlag: (name: string) => `The default variation of the flag (${name})`,
  rollOut: 'Roll out to a percentage',
  reset: 'Reset',
  resetField: (field: string) => `Reset: ${field}`,
  changed: 'changed',
  serverFault: 'The server refuses this draft:',
} as const
