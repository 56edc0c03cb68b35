import type { FlagView } from '@ff/protocol/management'
import { Link } from '@tanstack/react-router'
import { CopyButton } from '../../components/text/copy-button.tsx'
import { keepEnvironment } from '../../layout/keep-environment.ts'
import { messages } from '../../messages/messages.ts'
import styles from './flag-page.module.css'

/** The name, key, tags and description of a flag. */
export function FlagHeading({ flag }: { readonly flag: FlagView }) {
  const { key, name, type, tags, description, archived, projectId } = flag
  const { flag: texts, shell } = messages
  return (
    <header className={styles.heading}>
      <div className={styles.links}>
        <Link to="/p/$project/flags" params={{ project: projectId }}>
          {shell.flags}
        </Link>
        <Link
          to="/p/$project/playground"
          params={{ project: projectId }}
          search={(search) => ({ ...keepEnvironment(search), flag: key })}
        >
          {texts.tryOut}
        </Link>
      </div>
      <div className={styles.line}>
        <h1>
          <bdi>{name}</bdi>
        </h1>
        {archived && <span className={styles.archived}>{texts.archived}</span>}
      </div>
      <div className={styles.line}>
        <code className={styles.key}>
          <bdi>{key}</bdi>
        </code>
        <CopyButton text={key} label={texts.copyKey} />
        <span className={styles.tag}>{texts.types[type]}</span>
        {tags.map((tag) => (
          <span key={tag} className={styles.tag}>
            <bdi>{tag}</bdi>
          </span>
        ))}
      </div>
      {description !== '' && (
        <p className={styles.description}>
          <bdi>{description}</bdi>
        </p>
      )}
    </header>
  )
}
