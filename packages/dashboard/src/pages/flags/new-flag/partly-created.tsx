import { Button } from '../../../components/button.tsx'
import { messages } from '../../../messages/messages.ts'
import styles from './new-flag.module.css'
import type { PartlyDone } from './use-new-flag.ts'

const texts = messages.newFlag

/** The properties of `PartlyCreated`. */
export interface PartlyCreatedProps {
  readonly partly: PartlyDone
  readonly isPending: boolean
  readonly onTryAgain: () => void
  readonly onOpen: () => void
}

/** What was done and what was not, after a flag was created and a state was not set. */
export function PartlyCreated({ partly, isPending, onTryAgain, onOpen }: PartlyCreatedProps) {
  const { flag, done, failed } = partly
  return (
    <div className={styles.partly} role="alert">
      <p>{texts.partly(flag.key)}</p>
      {done.length > 0 && <p>{texts.switched(done.map(({ name }) => name))}</p>}
      <ul className={styles.failures}>
        {failed.map(({ environment, error }) => (
          <li key={environment.id}>{texts.notSwitched(environment.name, error.message)}</li>
        ))}
      </ul>
      <div className={styles.buttons}>
        <Button variant="primary" onPress={onTryAgain} isPending={isPending}>
          {texts.tryAgain}
        </Button>
        <Button onPress={onOpen}>{texts.open}</Button>
      </div>
    </div>
  )
}
