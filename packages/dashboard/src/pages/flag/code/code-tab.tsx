import type { Environment, FlagView } from '@ff/protocol/management'
import { CopyButton } from '../../../components/text/copy-button.tsx'
import { code as texts } from '../../../messages/en/code.ts'
import { useProject } from '../../../queries/use-queries.ts'
import styles from '../fields/fields.module.css'
import { snippetsOf } from './snippets.ts'
import { useServerUrl } from './use-server-url.ts'

/** The properties of `CodeTab`. */
export interface CodeTabProps {
  readonly flag: FlagView
  readonly environment: Environment
}

/** Code that reads the flag: with the client, in process, and with a command. */
export function CodeTab({ flag, environment }: CodeTabProps) {
  const url = useServerUrl()
  const projectKey = useProject(flag.projectId).data?.key ?? flag.projectId
  const snippets = snippetsOf(flag, { projectKey, environment, url })
  return (
    <div className={styles.form}>
      {snippets.map(({ id, code }) => (
        <section key={id} className={styles.card} aria-label={texts[id]}>
          <div className={styles.head}>
            <h2>{texts[id]}</h2>
            <span className={styles.space} />
            <CopyButton text={code} label={texts.copy(texts[id])} />
          </div>
          <p className={styles.hint}>{texts.hints[id]}</p>
          <pre className={styles.snippet}>{code}</pre>
        </section>
      ))}
    </div>
  )
}
