import type { ExplainedFlag } from '@ff/protocol/management'
import { Check, Minus, X } from 'lucide-react'
import { SentenceText } from '../components/text/sentence-text.tsx'
import { explanation as texts } from '../messages/en/explanation.ts'
import { classNames } from '../style/class-names.ts'
import styles from './explanation.module.css'
import {
  type ExplanationNames,
  type ExplanationStep,
  type StepPlace,
  stepWords,
} from './explanation-words.ts'

/** The properties of `ExplanationTree`. */
export interface ExplanationTreeProps {
  readonly flag: ExplainedFlag
  readonly names: ExplanationNames
}

/** The steps of the evaluation of a flag in words, as a tree. */
export function ExplanationTree({ flag, names }: ExplanationTreeProps) {
  const { steps, attributesRead, prerequisiteChain } = flag
  if (steps === null) return <p>{texts.stepsOmitted}</p>
  return (
    <div className={styles.tree}>
      <Steps steps={steps} place={{ flag, names, rule: 0 }} className={styles.tree} />
      <div className={styles.facts}>
        <Fact name={texts.prerequisiteChain} items={prerequisiteChain} />
        <Fact name={texts.attributesRead} items={attributesRead ?? []} />
      </div>
    </div>
  )
}

interface StepsProps {
  readonly steps: readonly ExplanationStep[]
  readonly place: StepPlace
  readonly className: string | undefined
}

function Steps({ steps, place, className }: StepsProps) {
  const rules = steps.filter(({ type }) => type === 'rule')
  return (
    <ol className={className}>
      {steps.map((step, index) => {
        const rule = rules.indexOf(step) + 1
        return <Step key={keyOf(step, index)} step={step} place={{ ...place, rule }} />
      })}
    </ol>
  )
}

/** Steps have no id, and do not change their places. */
function keyOf({ type }: ExplanationStep, index: number): string {
  return `${type} ${index}`
}

const MARKS = new Map([
  ['held', { Icon: Check, text: texts.held }],
  ['not_held', { Icon: X, text: texts.notHeld }],
])
const SKIPPED = { Icon: Minus, text: texts.skipped }

function Step({ step, place }: { readonly step: ExplanationStep; readonly place: StepPlace }) {
  const { outcome, steps = [] } = step
  const { sentence, detail } = stepWords(step, place)
  const { Icon, text } = MARKS.get(outcome) ?? SKIPPED
  return (
    <li className={styles.step}>
      <div className={styles.line}>
        <Icon
          size={16}
          aria-hidden="true"
          className={classNames(styles.icon, outcome === 'held' && styles.held)}
        />
        <div>
          <span className="visually-hidden">{text}: </span>
          <SentenceText sentence={sentence} />
          {detail !== undefined && (
            <span className={styles.detail}>
              <SentenceText sentence={detail} />
            </span>
          )}
        </div>
      </div>
      {steps.length > 0 && <Steps steps={steps} place={place} className={styles.steps} />}
    </li>
  )
}

function Fact({ name, items }: { readonly name: string; readonly items: readonly string[] }) {
  if (items.length === 0) return null
  return (
    <p>
      {name}:{' '}
      {items.map((item, index) => (
        <span key={item}>
          {index > 0 && ', '}
          <code>
            <bdi>{item}</bdi>
          </code>
        </span>
      ))}
    </p>
  )
}
