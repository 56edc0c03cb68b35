import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useLayoutEffect, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { Button } from '../../components/button.tsx'
import { messages } from '../../messages/messages.ts'
import { useApi, useSession } from '../../session/use-session.ts'
import { PasswordField } from './password-field.tsx'
import styles from './session.module.css'
import { SessionScreen } from './session-screen.tsx'

const TOKEN = /^#(ffl_[A-Za-z0-9_-]+)$/

/** The page of a one-time link. The token is only in the fragment of the address, and in memory. */
export function AcceptPage() {
  const [token] = useState(() => TOKEN.exec(window.location.hash)?.[1])
  useLayoutEffect(() => {
    const { pathname, search } = window.location
    window.history.replaceState(window.history.state, '', pathname + search)
  }, [])
  return (
    <SessionScreen title={messages.session.acceptTitle}>
      {token === undefined ? (
        <Refused reason={messages.session.linkMissing} />
      ) : (
        <AcceptForm token={token} />
      )}
    </SessionScreen>
  )
}

function Refused({ reason }: { readonly reason: string }) {
  return (
    <div className={styles.form} role="alert">
      <p>{reason}</p>
      <p>{messages.session.linkHint}</p>
      <Link to="/login">{messages.session.toLogIn}</Link>
    </div>
  )
}

function AcceptForm({ token }: { readonly token: string }) {
  const form = useAcceptForm(token)
  const session = messages.session
  if (form.isRefused) return <Refused reason={session.linkRefused} />
  return (
    <form className={styles.form} onSubmit={form.submit}>
      {!form.isExisting && <p className={styles.muted}>{session.acceptHint}</p>}
      <PasswordField
        label={form.isExisting ? session.oldPassword : session.newPassword}
        hint={form.isExisting ? undefined : session.passwordHint}
        autoComplete={form.isExisting ? 'current-password' : 'new-password'}
        value={form.password}
        onChange={form.setPassword}
        error={form.fault}
      />
      <Button type="submit" variant="primary" isPending={form.isPending}>
        {form.isExisting ? session.acceptExisting : session.accept}
      </Button>
      {!form.isExisting && (
        <Button variant="ghost" onPress={() => form.setExisting(true)}>
          {session.existingPassword}
        </Button>
      )}
    </form>
  )
}

function useAcceptForm(token: string) {
  const api = useApi()
  const session = useSession()
  const navigate = useNavigate()
  const [password, setPassword] = useState('')
  const [isExisting, setExisting] = useState(false)
  const [fault, setFault] = useState<string>()
  const [isRefused, setRefused] = useState(false)
  const [isPending, setPending] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isPending) return
    setPending(true)
    setFault(undefined)
    try {
      const entered = isExisting ? { oldPassword: password } : { newPassword: password }
      await api.call('changePassword', { body: { token, ...entered } })
      await session.load()
      await navigate({ to: '/', replace: true })
    } catch (error) {
      const known = error instanceof ApiError ? error : undefined
      setRefused(known?.status === 401 && !isExisting)
      setFault(known?.issues[0]?.message ?? known?.message ?? messages.errors.unknown)
    } finally {
      setPending(false)
    }
  }
  return { password, setPassword, isExisting, setExisting, fault, isRefused, isPending, submit }
}
