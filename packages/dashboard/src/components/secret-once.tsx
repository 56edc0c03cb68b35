import { useState } from 'react'
import { messages } from '../messages/messages.ts'
import { Button } from './button.tsx'
import styles from './page.module.css'

/** A secret that is shown once, with a button that copies it. */
export function SecretOnce({ secret }: { readonly secret: string }) {
  const [result, setResult] = useState<'copied' | 'failed'>()
  const { secretOnce, copy, copied, copyFailed } = messages.components
  const write = async () => {
    try {
      await navigator.clipboard.writeText(secret)
      setResult('copied')
    } catch {
      // Without https, or without permission, there is no clipboard.
      setResult('failed')
    }
  }
  return (
    <div className={styles.skeleton}>
      <p>{secretOnce}</p>
      <pre className={styles.snippet}>{secret}</pre>
      <div aria-live="polite">
        <Button onPress={write}>{result === 'copied' ? copied : copy}</Button>
        {result === 'failed' && <p>{copyFailed}</p>}
      </div>
    </div>
  )
}
