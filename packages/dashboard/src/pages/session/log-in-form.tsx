import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { Button } from '../../components/button.tsx'
import { TextField } from '../../components/text-field.tsx'
import { messages } from '../../messages/messages.ts'
import { useLogInMethods } from '../../queries/use-queries.ts'
import { useApi, useSession } from '../../session/use-session.ts'
import { PasswordField } from './password-field.tsx'
import styles from './session.module.css'

/** The properties of `LogInForm`. */
export interface LogInFormProps {
  readonly onLoggedIn: () => void
  /** The address of the only user who can log in, if a session has ended. */
  readonly email?: string
  /** The path to which an identity provider returns; the path of the page by default. */
  readonly returnTo?: string
}

/** The form with the log-in methods of the server. */
export function LogInForm({ onLoggedIn, email, returnTo }: LogInFormProps) {
  const methods = useLogInMethods()
  const api = useApi()
  if (methods.data === undefined && !methods.isError) return null
  const { password = true, oidc = null } = methods.data ?? {}
  const hasNone = methods.error instanceof ApiError && methods.error.status === 404
  if (hasNone) return <p>{messages.session.noMethods}</p>
  const back = returnTo ?? `${window.location.pathname}${window.location.search}`
  return (
    <div className={styles.form}>
      {password && <PasswordForm onLoggedIn={onLoggedIn} email={email} />}
      {oidc !== null && (
        <a
          className={styles.provider}
          href={api.addressOf('startOidcLogIn', { query: { returnTo: back } })}
        >
          {messages.session.logInWith(oidc.name)}
        </a>
      )}
    </div>
  )
}

interface PasswordFormProps {
  readonly onLoggedIn: () => void
  readonly email: string | undefined
}

function PasswordForm({ onLoggedIn, email: fixed }: PasswordFormProps) {
  const session = useSession()
  const [email, setEmail] = useState(fixed ?? '')
  const [password, setPassword] = useState('')
  const [fault, setFault] = useState<string>()
  const [isPending, setPending] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isPending) return
    setPending(true)
    setFault(undefined)
    try {
      await session.logIn(email, password)
      onLoggedIn()
    } catch (error) {
      setFault(faultOf(error))
    } finally {
      setPending(false)
    }
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextField
        label={messages.session.email}
        name="email"
        type="email"
        autoComplete="username"
        value={email}
        onChange={setEmail}
        isReadOnly={fixed !== undefined}
        isRequired
      />
      <PasswordField
        label={messages.session.password}
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
      />
      {fault !== undefined && (
        <p role="alert" className={styles.fault}>
          {fault}
        </p>
      )}
      <Button type="submit" variant="primary" isPending={isPending}>
        {messages.session.logIn}
      </Button>
    </form>
  )
}

function faultOf(error: unknown): string {
  if (!(error instanceof ApiError)) return messages.errors.unknown
  return error.status === 401 ? messages.session.wrongCredentials : error.message
}
