import type { Session } from './session.ts'

/** Calls a function when the user has logged out, and when another user has logged in. */
export function onUserLeft(session: Session, listener: () => void): () => void {
  let known = session.state().logIn?.user.id
  return session.subscribe(() => {
    const userId = session.state().logIn?.user.id
    const before = known
    known = userId
    if (before !== undefined && before !== userId) listener()
  })
}
