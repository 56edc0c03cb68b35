const numbers = new Intl.NumberFormat()
const percents = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })
const seconds = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })
const shortSeconds = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 1 })

const number = (value: number) => numbers.format(value)
const percent = (share: number) => `${percents.format(share)} %`
const counted = (count: number, one: string, several: string) =>
  `${number(count)} ${count === 1 ? one : several}`
const contexts = (count: number) => counted(count, 'context', 'contexts')

const impact = {
  title: 'Impact',
  titleIn: (environment: string) => `Impact in ${environment}`,
  hint: 'What changes for the contexts of the last 24 hours.',
  noChanges: 'There are no changes to preview.',
  loading: 'The preview is being calculated.',
  of: (changed: number, evaluated: number) => `${number(changed)} of ${number(evaluated)}`,
  change: (evaluated: number, share: number) =>
    `${evaluated === 1 ? 'context changes' : 'contexts change'} (${percent(share)})`,
  short: (changed: number) =>
    changed === 1 ? '1 context changes' : `${number(changed)} contexts change`,
  notKnown: (count: number) => `${number(count)} not known`,
  shortAbout: (changed: number) => `about ${impact.short(changed)}`,
  about: (estimate: number, low: number, high: number) =>
    `About ${number(estimate)} of all contexts; with 95 % probability ${number(low)} to ${number(high)}.`,
  sample: (evaluated: number, inWindow: number) =>
    `Calculated with a sample of ${number(evaluated)} of ${contexts(inWindow)}.`,
  nothingChanges: 'No context gets another variation.',
  reasonOnly: (count: number) =>
    `${contexts(count)} ${count === 1 ? 'gets' : 'get'} the same value for another reason.`,
  noContexts:
    'No application has evaluated flags in this environment in the last 24 hours, so the impact is not known.',
  incomplete:
    'The time limit of the preview was reached. The numbers are those of a part of the contexts.',
  undetermined: (count: number) =>
    `The result of ${contexts(count)} is not known, because attributes were not collected:`,
  collect: (attribute: string) => `Collect ${attribute} from now on`,
  collected: (attribute: string) =>
    `${attribute} is collected from now on. Contexts that are seen from now on contain it.`,
  collectFailed: (message: string) => `The environment was not changed: ${message}`,
  tooManyAttributes: 'An environment collects at most 50 attributes.',
  withoutContexts:
    'This environment stores no contexts, so there is no preview. Publishing is possible.',
  waiting: 'Another preview is running. This preview follows in a moment.',
  refused: 'The draft is not valid, so there is no preview:',
  failed: 'The preview could not be calculated.',
  failedHint: 'Publishing is possible.',
  moves: (key: string) => `Moves of flag ${key}`,
  becomes: 'becomes',
  moveCount: (count: number, share: number) => `${contexts(count)} (${percent(share)})`,
  noVariation: 'no variation',
  reasonChange: (before: string, after: string) =>
    before === after ? after : `${before}, then ${after}`,
  reasons: {
    TARGETING_MATCH: 'by a target or a rule',
    SPLIT: 'by a rollout',
    STATIC: 'by the default',
    DEFAULT: 'by the default',
    DISABLED: 'because the flag is off',
    ERROR: 'because of an error',
  },
  examples: 'Examples, most recently seen first',
  noExamples: 'Your role does not permit reading contexts, so there are no examples.',
  whyNow: 'Why now',
  whyThen: 'Why then',
  whyNowHint: 'published',
  whyThenHint: 'draft',
  explanationLoading: 'The explanation is being loaded.',
  explanationFailed: 'The explanation could not be loaded.',
  contextMissing: 'This context is no longer stored as it was, so it cannot be explained.',
  flagMissing: 'The flag does not exist on this side.',
  stepHeld: 'applies',
  stepNotHeld: 'does not apply',
  stepSkipped: 'skipped',
  moreFlags: (count: number) => `${counted(count, 'more flag', 'more flags')} can change.`,
  flag: (key: string, changed: number) => `${key}: ${impact.short(changed)}`,
}

const bar = {
  region: 'Unpublished changes',
  changes: (count: number) => counted(count, 'change', 'changes'),
  noChanges: 'No unpublished changes',
  undo: 'Undo',
  redo: 'Redo',
  discard: 'Discard',
  review: 'Review and publish',
  reviewShortcut: 'Review and publish the draft',
  discardTitle: 'Discard the draft?',
  discardText: 'All unpublished changes of this flag in this environment are lost.',
  discardConfirm: 'Discard the draft',
  keep: 'Keep the draft',
}

const review = {
  title: (environment: string) => `Review and publish to ${environment}`,
  isOff: (environment: string) =>
    `The flag is off in ${environment}. The rules take effect when it is switched on.`,
  changes: 'Changes',
  noChanges: 'The draft has no changes.',
  impact: 'Impact',
  note: 'Note',
  noteWithMark: 'Note (required)',
  noteHint: 'The reason for the change, for the history and the audit log.',
  noteRequired: 'This environment requires a note.',
  noteTooLong: (length: number) => `At most 1,000 characters (${number(length)} now).`,
  warnings: 'Warnings',
  dangerous: 'Dangerous:',
  publish: (environment: string) => `Publish to ${environment}`,
  publishing: 'The draft is being published.',
  back: 'Back to the draft',
  refused: 'Nothing was published.',
  fields: 'These fields are not valid:',
  unknown: 'It is not known whether the draft was published.',
  unknownHint:
    'The server did not confirm the request. A repetition is safe: the draft is published at most once.',
  retry: 'Try again',
  missing: 'The flag or the environment does not exist any more, or you have no access to it.',
  newer: 'Merge the newer version before you publish.',
}

const conflict = {
  published: (name: string, version: number) => `${name} published version ${number(version)}`,
  publishedByYou: (version: number) =>
    `You published version ${number(version)} in another window or by another way`,
  publishedByOther: 'A newer version of this flag was published',
  bannerHint: 'Your draft starts from an older version. Nothing of it is lost.',
  open: 'Compare and merge',
  title: 'Merge the newer version into your draft',
  automatic: 'Merged automatically',
  theirs: 'Changes of the newer version',
  automaticNone: 'Nothing. The newer version changed only the fields below.',
  choose: 'Choose one value for each of these fields',
  noConflicts: 'No field was changed by both sides.',
  columns: { before: 'Before', theirs: 'Theirs', yours: 'Yours' },
  result: 'Your draft then starts from the newer version. Nothing is published yet.',
  confirm: 'Continue with the merged draft',
  incomplete: (count: number) => `${counted(count, 'field', 'fields')} without a choice.`,
  renamed: 'Names that were changed elsewhere are now in your draft.',
  notPublished:
    'Not published: the flag was changed elsewhere. The change is now in your draft. Review it again.',
  merged: 'The newer version was merged into your draft.',
  mergedWithoutChanges: 'The newer version already contains your changes.',
}

const published = {
  toast: (flag: string, environment: string, version: number) =>
    `${flag}: version ${number(version)} was published to ${environment}.`,
  unchanged: 'The draft did not differ from the published configuration.',
  undone: (version: number) =>
    `The previous configuration was published as version ${number(version)}.`,
  undoComment: (version: number) => `Undo of version ${version}`,
  undoAsDraft:
    'A newer version exists. The previous configuration is now a draft, which you can review.',
  undoRefusedDraft:
    'A newer version exists, and this flag has a draft. Discard the draft, and restore the version in the history.',
  undoFailed: (message: string) => `The change was not undone: ${message}`,
  undoUnknown: 'It is not known whether the change was undone. A repetition is safe.',
}

const convergence = {
  region: 'Delivery',
  version: (version: number) => `Version ${number(version)}`,
  sent: (sent: number, all: number) => `sent to ${number(sent)} of ${number(all)}`,
  behind: (count: number) => `${number(count)} behind`,
  duration: (ms: number) => `${(ms < 1000 ? shortSeconds : seconds).format(ms / 1000)} s`,
  waiting: 'delivery starts',
  noClients: (version: number) =>
    `Version ${number(version)} is published. No client is connected.`,
  done: (version: number, all: number) =>
    `Version ${number(version)} was sent to all ${counted(all, 'client', 'clients')}.`,
  doneIn: (version: number, all: number, ms: number) =>
    `Version ${number(version)} was sent to all ${counted(all, 'client', 'clients')} in ${convergence.duration(ms)}.`,
  stillBehind: (version: number, behind: number) =>
    `After 60 seconds, ${counted(behind, 'client is', 'clients are')} behind version ${number(version)}. They receive it when they connect again.`,
  newer: (version: number, newer: number) =>
    `Version ${number(version)} was replaced by version ${number(newer)}.`,
  unknown: (version: number) =>
    `Version ${number(version)} is published. Its delivery could not be read.`,
}

/** The texts of preview, review, publishing, merging and delivery. */
export const publishing = {
  number,
  percent,
  impact,
  bar,
  review,
  conflict,
  published,
  convergence,
} as const
