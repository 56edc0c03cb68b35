import type { AuditEvent, AuditedFields } from '@ff/protocol/management'
import { type Cancel, type ServerServices, timestampAt } from '@ff/server/plane'
import type { Records } from '@ff/storage'
import { appendAudit, chainName, type NewAuditEntry } from '../changes/audit-chain.ts'
import { changeEvent } from '../changes/change-event.ts'
import { isEmail } from '../requests/validation.ts'

type LoginEventType =
  | 'user.login_success'
  | 'user.login_failed'
  | 'user.login_limited'
  | 'user.password_changed'
  | 'member.accepted'

/** An event of the log-in chains, which are separate from the chains of changes. */
type LoginEvent<T extends LoginEventType> = {
  readonly [E in T]: {
    readonly type: E
    readonly fields: AuditedFields<E>
    /** The user; all fields are empty if the user is unknown. */
    readonly actor: AuditEvent['actor']
    /** The id of the user's organization; empty for administrators and unknown users. */
    readonly orgId: string
  }
}[T]

/** The event of a successful or refused log-in. */
export type LoginAttempt = LoginEvent<'user.login_success' | 'user.login_failed'>

/** The event of a refused log-in. */
export type LoginRefusal = LoginEvent<'user.login_failed'>

/** The event of a changed password. */
export type PasswordEvent = LoginEvent<'user.password_changed'>

/** The actor of a log-in with an unknown e-mail address. */
export const UNKNOWN_ACTOR: AuditEvent['actor'] = { id: '', email: '', name: '', role: '' }

interface Waiting {
  readonly entry: NewAuditEntry
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
}

/** The maximum number of entries per transaction. It limits the delay of concurrent changes. */
const MOST_AT_ONCE = 50

/** The number of refused log-ins per minute that get their own entry. More are only counted. */
const REFUSALS_A_MINUTE = 60
const MINUTE_MS = 60_000

/** Returns the audit entry of a log-in event, for the log-in chain. */
export function loginEntry(
  { type, fields, actor, orgId }: LoginEvent<LoginEventType>,
  createdAt: string,
): NewAuditEntry {
  const id = type === 'member.accepted' ? fields.id : actor.id
  const { before, after } = changeEvent(type, id, { before: null, after: fields })
  return {
    eventType: type,
    payload: { before, after } as NewAuditEntry['payload'],
    createdAt,
    streamId: `${type === 'member.accepted' ? 'member' : 'user'}:${id}`,
    comment: null,
    orgId,
    projectId: '',
    actorId: actor.id,
    actor: { id: actor.id, email: actor.email, name: actor.name, role: actor.role },
  }
}

type LoginAuditOptions = Pick<ServerServices, 'storage' | 'recentEvents' | 'clock' | 'logger'>

/**
 * Writes accepted and refused log-ins to chains that contain only log-ins. One transaction at a
 * time writes a batch of entries, so that changes of the configuration are not delayed. If there
 * are very many refused log-ins, most are only counted, so that they do not fill the disk.
 */
export class LoginAudit {
  readonly #options: LoginAuditOptions
  readonly #waiting: Waiting[] = []
  #isWriting = false
  /** The number of refused log-ins of this minute that have their own entry. */
  #kept = 0
  /** The number of refused log-ins of this minute without an entry. */
  #counted = 0
  #since = ''
  #minute: Cancel | undefined

  constructor(options: LoginAuditOptions) {
    this.#options = options
  }

  /**
   * Records a log-in. Resolves when the entry is stored; rejects if the store refuses it. A log-in
   * name that is not an e-mail address is not stored, because users sometimes type their password
   * into that field.
   */
  record(attempt: LoginAttempt): Promise<void> {
    const { fields } = attempt
    const email = isEmail(fields.email) ? fields.email : ''
    return this.#keep({ ...attempt, fields: { ...fields, email } } as LoginAttempt)
  }

  /** Records a refused log-in, or only counts it if there were many in this minute already. */
  async refuse(refusal: LoginRefusal): Promise<void> {
    this.#startMinute()
    if (this.#kept >= REFUSALS_A_MINUTE) {
      this.countRefused()
      return
    }
    this.#kept += 1
    await this.record(refusal)
  }

  /**
   * Counts an attempt that was refused without checking its credentials. One entry per minute
   * contains the count.
   */
  countRefused(): void {
    this.#startMinute()
    this.#counted += 1
  }

  /** Writes the count of this minute and stops the timer. */
  async close(): Promise<void> {
    this.#minute?.()
    await this.#endMinute()
    this.#minute?.()
  }

  #startMinute(): void {
    if (this.#minute !== undefined) return
    this.#since = timestampAt(this.#options.clock)
    this.#minute = this.#options.clock.schedule(MINUTE_MS, () => void this.#endMinute())
  }

  async #endMinute(): Promise<void> {
    const [attempts, since] = [this.#counted, this.#since]
    this.#minute = undefined
    this.#kept = 0
    this.#counted = 0
    if (attempts === 0) return
    try {
      const fields = { attempts, since }
      await this.#keep({ type: 'user.login_limited', fields, actor: UNKNOWN_ACTOR, orgId: '' })
    } catch (cause) {
      this.#options.logger.error('Refused log-ins could not be audited', { attempts, since, cause })
    }
  }

  #keep(event: LoginEvent<LoginEventType>): Promise<void> {
    const entry = loginEntry(event, timestampAt(this.#options.clock))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject })
      if (!this.#isWriting) void this.#writeAll()
    })
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      await this.#write(batch)
    }
    this.#isWriting = false
  }

  /**
   * Removes and returns the next batch: the first waiting entries that belong to the same chain.
   */
  #take(): readonly Waiting[] {
    const orgId = this.#waiting[0]?.entry.orgId
    const end = this.#waiting.findIndex(({ entry }) => entry.orgId !== orgId)
    return this.#waiting.splice(0, Math.min(end === -1 ? MOST_AT_ONCE : end, MOST_AT_ONCE))
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const chain = chainName('logins', batch[0]?.entry.orgId ?? '')
      const stored = await this.#options.storage.transaction(chain, async (session) => {
        const entries: Records['auditEvent'][] = []
        for (const { entry } of batch) entries.push(await appendAudit(session, entry))
        return entries
      })
      for (const { resolve } of batch) resolve()
      // Not awaited: a reader notices that the recent events lack an entry.
      for (const entry of stored) void this.#options.recentEvents?.add(chain, entry)
    } catch (cause) {
      for (const { reject } of batch) reject(cause)
    }
  }
}
