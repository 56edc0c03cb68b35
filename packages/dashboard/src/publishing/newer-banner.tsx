import { Button } from '../components/button.tsx'
import { messages } from '../messages/messages.ts'
import styles from './publishing.module.css'
import type { VersionAuthor } from './use-newer-configuration.ts'

const { conflict } = messages.publishing

/** The properties of `NewerBanner`. */
export interface NewerBannerProps {
  readonly author: VersionAuthor | undefined
  readonly onMerge: () => void
}

/** Who published a newer version during the draft, with the button that merges it. */
export function NewerBanner({ author, onMerge }: NewerBannerProps) {
  return (
    <div className={styles.newer} role="status">
      <div>
        <p className={styles.strong}>
          <bdi>{newerSentence(author)}</bdi>
        </p>
        <p>{conflict.bannerHint}</p>
      </div>
      <Button onPress={onMerge}>{conflict.open}</Button>
    </div>
  )
}

/** Returns who published which version, as far as it is known. */
export function newerSentence(author: VersionAuthor | undefined): string {
  if (author === undefined || (author.name === null && !author.isOwn))
    return conflict.publishedByOther
  if (author.isOwn) return conflict.publishedByYou(author.version)
  return conflict.published(author.name ?? '', author.version)
}
