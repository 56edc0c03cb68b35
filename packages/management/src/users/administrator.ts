import { type Clock, newId, timestampAt } from '@ff/server/plane'
import type { Records, Storage, StorageSession } from '@ff/storage'
import { chainName } from '../changes/audit-chain.ts'
import type { PasswordHasher } from '../ports/password-hasher.ts'
import { invalid, isEmail } from '../requests/validation.ts'
import { assertGoodPassword, setPassword } from './passwords.ts'

/** The e-mail address and password of the administrator of the installation. */
export interface Administrator {
  readonly email: string
  /** A password of 12 to 256 characters, which must not be the e-mail address. */
  readonly password: string
}

/**
 * Returns the administrator with the e-mail address in lower case. Throws `INVALID_REQUEST` if the
 * address or the password is not allowed.
 */
export function resolveAdministrator({ email, password }: Administrator): Administrator {
  const address = email.toLowerCase()
  if (!isEmail(address)) {
    throw invalid('administrator.email', 'must be an e-mail address')
  }
  assertGoodPassword(password, 'administrator.password', address)
  return { email: address, password }
}

interface AdministratorServices {
  readonly storage: Storage
  readonly clock: Clock
  readonly passwordHasher: PasswordHasher
}

/**
 * Gives the user with this e-mail address the role of the administrator, with this password.
 * Creates the user if necessary. Any other administrator loses the role and is logged out.
 */
export async function appointAdministrator(
  { storage, clock, passwordHasher }: AdministratorServices,
  { email, password }: Administrator,
): Promise<void> {
  const known = (await storage.list('user', { where: { email }, limit: 1 })).data[0]
  const verdict = await passwordHasher.verify(password, known?.passwordHash ?? null)
  const passwordHash = verdict === 'right' ? undefined : await passwordHasher.hash(password)
  await storage.transaction(chainName('logins', ''), async (session) => {
    const now = timestampAt(clock)
    await dismissOthers(session, email, now)
    const user = (await findUser(session, email)) ?? (await insertUser(session, email, now))
    const updated =
      user.role === 'platform'
        ? user
        : await session.update(
            'user',
            user.id,
            { role: 'platform', ...next(user, now) },
            user.revision,
          )
    if (passwordHash === undefined) return
    const actor = { id: user.id, email, name: user.name, role: 'platform' }
    await setPassword(session, updated, { passwordHash, now, by: 'operator', actor, orgId: '' })
  })
}

async function dismissOthers(session: StorageSession, email: string, now: string): Promise<void> {
  const { data } = await session.list('user', { where: { role: 'platform' } })
  for (const user of data) {
    if (user.email === email) continue
    await session.update('user', user.id, { role: null, ...next(user, now) }, user.revision)
    await session.purge('loginSession', { where: { userId: user.id } })
  }
}

async function findUser(session: StorageSession, email: string) {
  return (await session.list('user', { where: { email }, limit: 1 })).data[0]
}

async function insertUser(session: StorageSession, email: string, now: string) {
  const user: Records['user'] = {
    id: newId(),
    email,
    name: email,
    passwordHash: null,
    role: null,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    revision: 1,
  }
  await session.insert('user', user)
  return user
}

function next({ revision }: Records['user'], now: string) {
  return { updatedAt: now, revision: revision + 1 }
}
