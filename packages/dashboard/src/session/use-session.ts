import { type Permission, rolesWith } from '@ff/protocol/management'
import { createContext, use, useSyncExternalStore } from 'react'
import type { Api } from '../api/api.ts'
import { messages } from '../messages/messages.ts'
import type { Session, SessionState } from './session.ts'

/** The session of the page. */
export const SessionContext = createContext<Session | undefined>(undefined)

/** Returns the session of the page. */
export function useSession(): Session {
  const session = use(SessionContext)
  if (session === undefined) throw new Error('SessionContext is missing')
  return session
}

/** Returns the state of the session, and renders again after each change. */
export function useSessionState(): SessionState {
  const session = useSession()
  return useSyncExternalStore(session.subscribe, session.state)
}

/** Returns the client of the management API. */
export function useApi(): Api {
  return useSession().api
}

/** Whether the user may do something; if not, with the reason. */
export type Allowance =
  | { readonly allowed: true; readonly reason: undefined }
  | { readonly allowed: false; readonly reason: string }

/** Returns whether the role of the user has a permission. */
export function useMay(permission: Permission): Allowance {
  useSessionState()
  if (useSession().may(permission)) return { allowed: true, reason: undefined }
  const names = rolesWith(permission).map((role) => messages.session.roles[role])
  const roles = new Intl.ListFormat('en', { type: 'disjunction' }).format(names)
  return { allowed: false, reason: messages.session.needsRole(roles) }
}
