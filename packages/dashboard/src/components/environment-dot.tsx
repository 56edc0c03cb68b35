import { messages } from '../messages/messages.ts'
import { classNames } from '../style/class-names.ts'
import styles from './environment-dot.module.css'

/** The properties of `EnvironmentDot`. */
export interface EnvironmentDotProps {
  readonly name: string
  readonly isProduction: boolean
}

/** The name of an environment with a dot; a production environment is amber and labelled. */
export function EnvironmentDot({ name, isProduction }: EnvironmentDotProps) {
  return (
    <span className={styles.environment}>
      <span
        className={classNames(styles.dot, isProduction && styles.production)}
        aria-hidden="true"
      />
      <bdi className={styles.name}>{name}</bdi>
      {isProduction && <span className={styles.word}>{messages.components.production}</span>}
    </span>
  )
}
