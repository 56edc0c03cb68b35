import { messages } from '../../messages/messages.ts'
import styles from './flags.module.css'

const MOST_TAGS = 2

/** The properties of `FlagTags`. */
export interface FlagTagsProps {
  readonly tags: readonly string[]
  readonly onTag: (tag: string) => void
}

/** The first tags of a flag. A click on one selects the flags that have it. */
export function FlagTags({ tags, onTag }: FlagTagsProps) {
  const rest = tags.slice(MOST_TAGS)
  return (
    <span className={styles.tags}>
      {tags.slice(0, MOST_TAGS).map((tag) => (
        <button
          key={tag}
          type="button"
          className={styles.tag}
          title={tag}
          aria-label={messages.flags.filterByTag(tag)}
          onClick={() => onTag(tag)}
        >
          <bdi>{tag}</bdi>
        </button>
      ))}
      {rest.length > 0 && (
        <span className={styles.muted} title={rest.join(', ')}>
          {messages.flags.moreTags(rest.length)}
        </span>
      )}
    </span>
  )
}
