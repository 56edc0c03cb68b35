import type { Fragment, Sentence } from '../../messages/phrases/fragment.ts'
import styles from './sentence-text.module.css'

/** A sentence with its emphasis. Texts of users are isolated from the direction of the sentence. */
export function SentenceText({ sentence }: { readonly sentence: Sentence }) {
  const parts = sentence.map((fragment, index) => ({ fragment, key: `${index} ${fragment.kind}` }))
  return (
    <span className={styles.sentence}>
      {parts.map(({ fragment, key }) => (
        <Part key={key} fragment={fragment} />
      ))}
    </span>
  )
}

function Part({ fragment: { text, kind } }: { readonly fragment: Fragment }) {
  if (kind === 'plain') return text
  const content = <bdi>{text}</bdi>
  return kind === 'attribute' || kind === 'variation' ? (
    <strong>{content}</strong>
  ) : (
    <em>{content}</em>
  )
}
