import { type Fragment, phrase, type Sentence } from '../phrases/fragment.ts'

const buckets = new Intl.NumberFormat(undefined)
const percents = new Intl.NumberFormat(undefined, { maximumFractionDigits: 3 })

const plain = (text: string): Sentence => [{ text, kind: 'plain' }]
const bucketOf = (bucket: number) => buckets.format(bucket)
/** Returns a bucket as a percentage of all 100,000 buckets. */
const share = (bucket: number) => percents.format(bucket / 1000)

const steps = {
  flagOn: plain('The flag is on.'),
  flagOff: plain('The flag is off.'),
  prerequisiteMet: (flag: Fragment, served: Sentence) =>
    phrase`Prerequisite met: flag ${flag} serves ${served}.`,
  prerequisiteNotMet: (flag: Fragment, served: Sentence) =>
    phrase`Prerequisite not met: flag ${flag} serves ${served}.`,
  ruleMatches: (rule: number) => phrase`Rule ${rule} matches.`,
  ruleDoesNotMatch: (rule: number) => phrase`Rule ${rule} does not match.`,
  ruleSkipped: (rule: number) =>
    phrase`Rule ${rule} matches, but serves nothing to this context. The next rule is tried.`,
  found: (found: Fragment) => phrase`It is ${found}.`,
  foundInexact: (found: Fragment) =>
    phrase`It is ${found}. An integer of 2⁵³ or more is not exact, so it equals nothing.`,
  missing: plain('It is missing.'),
  flagServes: (served: Sentence) => phrase`The flag serves ${served}.`,
  inSegment: (segment: Fragment) => phrase`The context is in segment ${segment}.`,
  notInSegment: (segment: Fragment) => phrase`The context is not in segment ${segment}.`,
  rolloutServes: (attribute: Fragment, key: Fragment, variation: Sentence) =>
    phrase`The rollout by ${attribute} ${key} serves ${variation}.`,
  rolloutServesNothing: (attribute: Fragment, key: Fragment) =>
    phrase`The rollout by ${attribute} ${key} serves nothing.`,
  rolloutWithoutKey: (attribute: Fragment) =>
    phrase`The context has no ${attribute}, so the rollout serves nothing.`,
  inRange: (bucket: number, from: number, to: number) =>
    phrase`Bucket ${bucketOf(bucket)} of 100,000 is between ${share(from)} % and ${share(to)} %.`,
  inNoRange: (bucket: number) =>
    phrase`Bucket ${bucketOf(bucket)} of 100,000 (${share(bucket)} %) is outside the shares of the rollout.`,
  serves: (served: Sentence, reason: Sentence) => phrase`Serves ${served}: ${reason}.`,
  nothing: plain('nothing'),
}

const reasons = {
  disabled: plain('the flag is off'),
  prerequisite: (flag: Fragment) => phrase`the prerequisite ${flag} is not met`,
  rule: plain('a rule matches'),
  target: plain('an individual target lists the key'),
  rollout: plain('a rule matches, by its rollout'),
  default: plain('no rule serves this context'),
  static: plain('the flag has no rules'),
  error: plain('the evaluation failed'),
}

const errors = {
  FLAG_NOT_FOUND: plain('the flag does not exist'),
  MALFORMED_FLAG: plain('the definition of the flag is broken'),
  TYPE_MISMATCH: plain('the value does not have the type of the flag'),
  TARGETING_KEY_MISSING: plain('the context lacks the key of a rollout'),
}

/** The texts of explanations: what a context gets, and why. */
export const explanation = {
  steps,
  reasons,
  errors,
  held: 'Yes',
  notHeld: 'No',
  skipped: 'Skipped',
  stepsOmitted: 'The steps are left out, because the explanation is too long.',
  withError: (reason: Sentence, error: Sentence) => phrase`${reason} (${error})`,
  attributesRead: 'The result depends on',
  prerequisiteChain: 'Unmet prerequisites',
} as const
