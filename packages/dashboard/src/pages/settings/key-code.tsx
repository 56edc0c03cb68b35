import { CopyButton } from '../../components/text/copy-button.tsx'
import { code } from '../../messages/en/code.ts'
import { messages } from '../../messages/messages.ts'
import { connectionCode, INSTALL_COMMAND } from '../flag/code/snippets.ts'
import { useServerUrl } from '../flag/code/use-server-url.ts'
import styles from './settings.module.css'

const { keys: texts } = messages

/** The commands and the code with which an application in Node uses a new key. */
export function KeyCode({ sdkKey }: { readonly sdkKey: string }) {
  const url = useServerUrl()
  return (
    <>
      <Part name={texts.install} text={INSTALL_COMMAND} />
      <Part name={texts.connect} text={connectionCode({ url, sdkKey })} />
    </>
  )
}

interface PartProps {
  readonly name: string
  readonly text: string
}

function Part({ name, text }: PartProps) {
  return (
    <section className={styles.part} aria-label={name}>
      <div className={styles.head}>
        <h3>{name}</h3>
        <CopyButton text={text} label={code.copy(name)} />
      </div>
      <pre className={styles.snippet}>{text}</pre>
    </section>
  )
}
