import type { IdentifyUser } from '@ff/management'
import type { SessionRequest } from './sessions.ts'

// #region identify
/** The roles of the users of the app. Customers have no access. */
const ROLES = { developer: 'editor', support: 'viewer', customer: undefined } as const

/** Returns the user of the app's session, which `readSession` has set, with its role. */
export const identifyUser: IdentifyUser = ({ hostRequest }) => {
  const { user } = hostRequest as SessionRequest
  const role = user && ROLES[user.job]
  if (user === undefined || role === undefined) return undefined
  const { id, email, name, orgId } = user
  return { id, email, name, orgId, role }
}
// #endregion
