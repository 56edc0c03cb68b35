import { useState } from 'react'
import { RelativeTime } from '../../components/relative-time.tsx'
import { messages } from '../../messages/messages.ts'
import { ExampleExplanation } from './example-explanation.tsx'
import styles from './impact.module.css'
import type { Example } from './use-preview.ts'

const { impact } = messages.publishing

/** The properties of `MoveExamples`. */
export interface MoveExamplesProps {
  readonly examples: readonly Example[]
  readonly flagKey: string
}

/** The examples of a move, most recently seen first. Each opens its explanations. */
export function MoveExamples({ examples, flagKey }: MoveExamplesProps) {
  if (examples.length === 0) return <p className={styles.muted}>{impact.noExamples}</p>
  return (
    <ul className={styles.examples} aria-label={impact.examples}>
      {examples.map((example) => (
        <li key={JSON.stringify([example.kind, example.key, example.lastSeen])}>
          <ExampleRow example={example} flagKey={flagKey} />
        </li>
      ))}
    </ul>
  )
}

interface ExampleRowProps {
  readonly example: Example
  readonly flagKey: string
}

function ExampleRow({ example, flagKey }: ExampleRowProps) {
  const [isOpen, setOpen] = useState(false)
  const { kind, key, lastSeen } = example
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={styles.example}>
        <span className={styles.muted}>
          <bdi>{kind}</bdi>
        </span>
        <bdi className={styles.key}>{key}</bdi>
        <span className={styles.muted}>
          <RelativeTime time={lastSeen} />
        </span>
      </summary>
      {isOpen && <ExampleExplanation example={example} flagKey={flagKey} />}
    </details>
  )
}
