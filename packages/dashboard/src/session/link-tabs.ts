import type { Session } from './session.ts'

const CHANNEL = 'ff-session'

/**
 * Keeps the sessions of all tabs of a browser equal, because they have the same cookie: a log-in or
 * log-out in one tab makes the others load their user again, and so does opening a hidden tab.
 * Messages contain nothing about the user. Returns a function that ends this.
 */
export function linkTabs(session: Session): () => void {
  const channel = new BroadcastChannel(CHANNEL)
  const load = () => {
    // An unreachable server says nothing about the user.
    if (session.state().status !== 'unknown') session.load().catch(() => undefined)
  }
  let known = identityOf(session)
  const unsubscribe = session.subscribe(() => {
    const identity = identityOf(session)
    const isChanged = identity !== known && known !== undefined
    known = identity
    if (isChanged) channel.postMessage('changed')
  })
  const show = () => {
    if (document.visibilityState === 'visible' && session.state().status === 'loggedIn') load()
  }
  channel.addEventListener('message', load)
  document.addEventListener('visibilitychange', show)
  return () => {
    unsubscribe()
    channel.close()
    document.removeEventListener('visibilitychange', show)
  }
}

/** The logged-in user; `null` without one, `undefined` if it is not known yet. */
function identityOf(session: Session): string | null | undefined {
  const { status, logIn } = session.state()
  return status === 'unknown' ? undefined : (logIn?.user.id ?? null)
}
