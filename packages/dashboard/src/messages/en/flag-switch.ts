import { phrase, type Sentence } from '../phrases/fragment.ts'
import { counted, number, percent } from '../phrases/numbers.ts'

/** The texts of the switch of a flag and its dialog. */
export const flagSwitch = {
  label: (flag: string, environment: string) => `${flag} in ${environment}`,
  on: 'on',
  off: 'off',
  switchOff: 'Switch off',
  switchOn: 'Switch on',
  titleOff: (flag: string) => `Switch ${flag} off`,
  titleOn: (flag: string) => `Switch ${flag} on`,
  place: 'Environment',
  flag: 'Flag',
  everyoneGets: (served: Sentence) => phrase`Everyone gets ${served} immediately.`,
  ruled: (parts: readonly string[], served: Sentence) =>
    phrase`In effect again: ${parts.join(', ')}. Everyone else gets ${served}.`,
  rules: (count: number) => counted(count, 'rule', 'rules'),
  targets: (count: number) => counted(count, 'target', 'targets'),
  prerequisites: (count: number) => counted(count, 'prerequisite', 'prerequisites'),
  nothing: phrase`no variation`,
  effect: 'After the change',
  loadingEffect: 'Reading the configuration…',
  production: 'This is a production environment.',
  archived: 'The flag is archived. Restore it first.',
  comment: 'Comment',
  commentHint: 'The environment requires a comment. It is recorded in the history.',
  commentMissing: 'Enter a comment.',
  impact: 'Impact',
  impactLoading: 'Comparing the answers for observed contexts…',
  impactChanged: (changed: number, all: number, share: number) =>
    `${number(changed)} of ${number(all)} observed contexts get another variation (${percent(share)}).`,
  impactNone: (all: number) => `None of ${number(all)} observed contexts gets another variation.`,
  impactEmpty: 'No context was observed in the last 24 hours.',
  impactMove: (from: string, to: string, count: number) => `${from} → ${to}: ${number(count)}`,
  impactNothing: 'nothing',
  impactPartial: 'The comparison reached its time limit; the numbers are incomplete.',
  impactSample: 'The numbers are those of a sample.',
  impactUndetermined: (count: number) =>
    counted(count, 'context has an unknown answer.', 'contexts have an unknown answer.'),
  impactDependents: (count: number) =>
    counted(count, 'other flag also changes.', 'other flags also change.'),
  impactFailed: (reason: string) => `The impact cannot be shown: ${reason}`,
  impactWithoutContexts: 'The impact cannot be shown: this environment stores no contexts.',
  impactBusy: 'The impact cannot be shown: another preview of the organization is running.',
  failedOff: 'The flag was not switched off.',
  failedOn: 'The flag was not switched on.',
  stale:
    'The flag was changed after this dialog was opened. Check the changes, then confirm again.',
  staleUnknown: 'The flag was changed after this dialog was opened. Confirm again.',
  alreadyOff: 'The flag is already off.',
  alreadyOn: 'The flag is already on.',
  doneOff: (flag: string, environment: string) => `${flag} is off in ${environment}.`,
  doneOn: (flag: string, environment: string) => `${flag} is on in ${environment}.`,
  undoComment: 'Undo of the last switch',
  undoDone: (flag: string, environment: string, isActive: boolean) =>
    `Undone: ${flag} is ${isActive ? 'on' : 'off'} in ${environment}.`,
  undoRefused: (flag: string, environment: string) =>
    `Not undone: ${flag} was changed again in ${environment}.`,
  undoFailed: (reason: string) => `Not undone: ${reason}`,
  sent: (sent: number, all: number) => `Sent to ${number(sent)} of ${number(all)} clients.`,
  sentNone: 'No client is connected.',
} as const
