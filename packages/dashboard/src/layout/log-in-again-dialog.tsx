import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { messages } from '../messages/messages.ts'
import { LogInForm } from '../pages/session/log-in-form.tsx'
import { useSession, useSessionState } from '../session/use-session.ts'
import { useLogOut } from './use-log-out.tsx'

/** The dialog over the page after the session has ended. The waiting requests are then repeated. */
export function LogInAgainDialog() {
  const session = useSession()
  const { isLogInNeeded, logIn } = useSessionState()
  const logOut = useLogOut(() => session.giveUp())
  const email = logIn?.user.email ?? ''
  const { again, againHint, continue: resume, logOut: leave } = messages.session
  // A server that cannot be reached leaves the dialog open.
  const load = () => void session.load().catch(() => undefined)
  return (
    <>
      <Dialog
        title={again}
        isOpen={isLogInNeeded}
        onClose={() => undefined}
        canDismiss={false}
        actions={
          <>
            <Button onPress={logOut.ask}>{leave}</Button>
            <Button onPress={load}>{resume}</Button>
          </>
        }
      >
        <p>{againHint}</p>
        <LogInForm onLoggedIn={() => undefined} {...(email === '' ? {} : { email })} />
      </Dialog>
      {logOut.question}
    </>
  )
}
