import type { Environment, EvaluationQuestion, ExplainedFlag } from '@ff/protocol/management'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { SentenceText } from '../../components/text/sentence-text.tsx'
import { reasonSentence } from '../../explanation/explanation-words.ts'
import { messages } from '../../messages/messages.ts'
import { FlagWhy } from './flag-why.tsx'
import styles from './playground.module.css'

const { playground: texts } = messages
const STEP = 100

/** The properties of `FlagResults`. */
export interface FlagResultsProps {
  readonly flags: readonly ExplainedFlag[]
  readonly environment: Environment
  readonly question: EvaluationQuestion | undefined
}

/** The results by flag. A row opens its explanation, and the address names the opened flag. */
export function FlagResults({ flags, environment, question }: FlagResultsProps) {
  const { flag: opened } = useSearch({ from: '/layout/p/$project/playground' })
  const [limit, setLimit] = useState(STEP)
  const index = flags.findIndex(({ flagKey }) => flagKey === opened)
  const shown = flags.slice(0, Math.max(limit, index + 1))
  return (
    <>
      <div className={styles.table}>
        <div className={styles.head} aria-hidden="true">
          <span>{texts.flag}</span>
          <span>{texts.value}</span>
          <span>{texts.variation}</span>
          <span>{texts.reason}</span>
        </div>
        <ul>
          {shown.map((flag) => (
            <Row
              key={flag.flagKey}
              flag={flag}
              isOpen={flag.flagKey === opened}
              environment={environment}
              question={question}
            />
          ))}
        </ul>
      </div>
      {shown.length < flags.length && (
        <div>
          <Button onPress={() => setLimit(limit + STEP)}>{texts.more}</Button>
        </div>
      )}
    </>
  )
}

interface RowProps extends Omit<FlagResultsProps, 'flags'> {
  readonly flag: ExplainedFlag
  readonly isOpen: boolean
}

function Row({ flag, isOpen, environment, question }: RowProps) {
  const navigate = useNavigate({ from: '/p/$project/playground' })
  const id = useId()
  const toggle = () =>
    navigate({
      search: (search) => ({ ...search, flag: isOpen ? undefined : flag.flagKey }),
      replace: true,
    })
  const Icon = isOpen ? ChevronDown : ChevronRight
  return (
    <li className={styles.row}>
      <button
        type="button"
        className={styles.result}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={toggle}
      >
        <span className={styles.flag}>
          <Icon size={16} aria-hidden="true" />
          <bdi className={styles.key}>{flag.flagKey}</bdi>
        </span>
        <code className={styles.clipped}>{JSON.stringify(flag.value)}</code>
        <span className={styles.clipped}>
          {flag.variationKey === null ? texts.nothing : <bdi>{flag.variationKey}</bdi>}
        </span>
        <span className={styles.reason}>
          <SentenceText sentence={reasonSentence(flag)} />
        </span>
      </button>
      {isOpen && <FlagWhy id={id} flag={flag} environment={environment} question={question} />}
    </li>
  )
}
