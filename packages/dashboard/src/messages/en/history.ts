import { phrase, type Sentence } from '../phrases/fragment.ts'

const numbers = new Intl.NumberFormat()
const number = (value: number) => numbers.format(value)
const counted = (count: number, one: string, several: string) =>
  `${number(count)} ${count === 1 ? one : several}`

/** The words for the changes that publish a version, by the type of their audit event. */
const events: Readonly<Record<string, string>> = {
  'project.created': 'created the project',
  'environment.created': 'created the environment',
  'environment.restored': 'restored a version',
  'environment.deleted': 'deleted the environment',
  'flag.created': 'created a flag',
  'flag.updated': 'changed a flag',
  'flag.deleted': 'deleted a flag',
  'flag.configured': 'published a configuration',
  'flag.promoted': 'promoted a flag',
  'flag_state.updated': 'changed the state of a flag',
  'variation.created': 'added a variation',
  'variation.updated': 'changed a variation',
  'variation.deleted': 'deleted a variation',
  'variation.reordered': 'reordered the variations',
  'targeting_rule.created': 'added a targeting rule',
  'targeting_rule.updated': 'changed a targeting rule',
  'targeting_rule.deleted': 'deleted a targeting rule',
  'targeting_rule.reordered': 'reordered the targeting rules',
  'rollout.created': 'added a rollout',
  'rollout.updated': 'changed a rollout',
  'rollout.deleted': 'deleted a rollout',
  'segment.created': 'created a segment',
  'segment.updated': 'changed a segment',
  'segment.deleted': 'deleted a segment',
  'scheduled_change.applied': 'applied a scheduled change',
}

const changes = {
  flag: (key: string) => `Flag ${key}`,
  segment: (key: string) => `Segment ${key}`,
  added: [{ text: 'Added', kind: 'plain' }] as Sentence,
  removed: [{ text: 'Deleted or archived', kind: 'plain' }] as Sentence,
  variationAdded: (key: string, value: string): Sentence =>
    phrase`Variation ${{ text: key, kind: 'variation' }} added: ${{ text: value, kind: 'value' }}`,
  variationRemoved: (key: string): Sentence =>
    phrase`Variation ${{ text: key, kind: 'variation' }} deleted`,
  variationChanged: (key: string, before: string, after: string): Sentence =>
    phrase`Value of ${{ text: key, kind: 'variation' }}: ${{ text: before, kind: 'value' }} → ${{ text: after, kind: 'value' }}`,
  visible: [{ text: 'Visible to clients', kind: 'plain' }] as Sentence,
  hidden: [{ text: 'Hidden from clients', kind: 'plain' }] as Sentence,
  conditions: (before: Sentence, after: Sentence): Sentence =>
    phrase`Conditions: ${before} → ${after}`,
  listed: (list: 'included' | 'excluded', added: number, removed: number): Sentence => {
    const words = list === 'included' ? 'Included keys' : 'Excluded keys'
    return phrase`${words}: ${number(added)} added, ${number(removed)} removed`
  },
  other: [{ text: 'Other fields changed', kind: 'plain' }] as Sentence,
  none: 'These versions do not differ.',
  noneOfFlag: 'The flag is the same in these versions.',
  more: (count: number) => `${counted(count, 'more change', 'more changes')} are not shown.`,
  ruleName: (index: number) => number(index + 1),
  rolloutName: (index: number) => `of rule ${number(index + 1)}`,
  unusedRollout: 'without a rule',
}

const restore = {
  button: 'Restore all flags',
  title: (version: number) => `Restore version ${number(version)}`,
  hint: (environment: string) =>
    `${environment} then evaluates all flags as in this version. The restore is a new version, so it can be undone in the same way.`,
  changes: 'What changes',
  skipped: 'What stays as it is now',
  skippedNone: 'Nothing. Every context gets exactly the result of that version.',
  reasons: {
    missing: 'was deleted or archived, and stays so',
    absent: 'did not exist in that version, and keeps its current configuration',
    changed: 'has other variations, conditions or keys now, which stay',
  },
  confirm: (version: number, environment: string) =>
    `Restore version ${number(version)} in ${environment}`,
  done: (version: number) => `Version ${number(version)} was restored.`,
  unchanged: 'The restore changed nothing.',
  restoring: 'The version is being restored.',
  refused: 'Nothing was restored.',
  unknown: 'It is not known whether the version was restored. A repetition is safe.',
}

/** The texts of the history of an environment. */
export const history = {
  title: 'History',
  environment: 'Environment',
  what: 'The versions',
  empty: 'Nothing was published in this environment yet.',
  emptyOfFlag: 'None of these versions changed this flag.',
  version: (version: number) => `Version ${number(version)}`,
  current: 'current',
  event: (type: string | null) => {
    if (type === null) return 'published a version'
    return events[type] ?? `made the change "${type}"`
  },
  nobody: 'The system',
  flags: (keys: readonly string[], more: number) =>
    more === 0 ? keys.join(', ') : `${keys.join(', ')} and ${number(more)} more`,
  showChanges: 'Show the changes',
  changesWhat: 'The changes',
  compare: 'Compare',
  compareTitle: 'Compare two versions',
  from: 'From version',
  to: 'To version',
  versionMissing: 'Enter two versions that exist.',
  newer: 'Newer versions',
  older: 'Older versions',
  page: (page: number, pages: number) => `Page ${number(page)} of ${number(pages)}`,
  note: 'Note',
  changes,
  restore,
} as const
