import type { AuditEvent, AuditedFields } from '@ff/protocol/management'
import { type Cancel, type ServerServices, timestampAt } from '@ff/server/plane'
import { appendAudit, chainName, type NewAuditEntry } from '../changes/audit-chain.ts'
import { changeEvent } from '../changes/change-event.ts'
import { isEmail } from '../requests/validation.ts'

type LoginEventType =
  | 'user.login_success'
  | 'user.login_failed'
  | 'user.login_limited'
  | 'user.password_changed'
  | 'member.accepted'

/** One event of the log-in chains, which are separate from those of changes. */
type LoginEvent<T extends LoginEventType> = {
  readonly [E in T]: {
    readonly type: E
    readonly fields: AuditedFields<E>
    /** All fields are empty if the user is unknown. */
    readonly actor: AuditEvent['actor']
    /** Empty for administrators and unknown users. */
    readonly orgId: string
  }
}[T]

/** The event of a successful or refused log-in. */
export type LoginAttempt = LoginEvent<'user.login_success' | 'user.login_failed'>
export type LoginRefusal = LoginEvent<'user.login_failed'>
export type PasswordEvent = LoginEvent<'user.password_changed'>

/** The actor of a log-in with an unknown address. */
export const UNKNOWN_ACTOR: AuditEvent['actor'] = { id: '', email: '', name: '', role: '' }

interface Waiting {
  readonly entry: NewAuditEntry
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
}

/** The most entries of one transaction, which bounds the wait of a change. */
const MOST_AT_ONCE = 50

/** The most refused log-ins a minute with an entry each; the rest are counted. */
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
    orgId,
    projectId: '',
    actorId: actor.id,
    actor: { id: actor.id, email: actor.email, name: actor.name, role: actor.role },
  }
}

type LoginAuditOptions = Pick<ServerServices, 'storage' | 'clock' | 'logger'>

/**
 * Writes accepted and refused log-ins to their own chains. One transaction at a time writes a batch
 * of them, so that changes are not delayed; of a flood of refused log-ins most are only counted, so
 * that it does not fill the disk.
 */
export class LoginAudit {
  readonly #options: LoginAuditOptions
  readonly #waiting: Waiting[] = []
  #isWriting = false
  /** The refused log-ins of this minute: with an entry, and without. */
  #kept = 0
  #counted = 0
  #since = ''
  #minute: Cancel | undefined

  constructor(options: LoginAuditOptions) {
    this.#options = options
  }

  /**
   * Resolves when the entry is kept; rejects when the store refuses it. A name that is no e-mail
   * address is left out, because users type passwords there by mistake.
   */
  record(attempt: LoginAttempt): Promise<void> {
    const { fields } = attempt
    const email = isEmail(fields.email) ? fields.email : ''
    return this.#keep({ ...attempt, fields: { ...fields, email } } as LoginAttempt)
  }

  /** A refused log-in: recorded, or, when there were many in this minute already, counted. */
  async refuse(refusal: LoginRefusal): Promise<void> {
    this.#startMinute()
    if (this.#kept >= REFUSALS_A_MINUTE) {
      this.countRefused()
      return
    }
    this.#kept += 1
    await this.record(refusal)
  }

  /** Counts an attempt that was refused untried; one entry a minute has their number. */
  countRefused(): void {
    this.#startMinute()
    this.#counted += 1
  }

  /** Writes the count of this minute; nothing is counted afterwards. */
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
      this.#options.logger.error('refused log-ins could not be audited', { attempts, since, cause })
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

  /** Takes the longest waiting entries of one chain. */
  #take(): readonly Waiting[] {
    const orgId = this.#waiting[0]?.entry.orgId
    const end = this.#waiting.findIndex(({ entry }) => entry.orgId !== orgId)
    return this.#waiting.splice(0, Math.min(end === -1 ? MOST_AT_ONCE : end, MOST_AT_ONCE))
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const lock = chainName('logins', batch[0]?.entry.orgId ?? '')
      await this.#options.storage.transaction(lock, async (session) => {
        for (const { entry } of batch) await appendAudit(session, entry)
      })
      for (const { resolve } of batch) resolve()
    } catch (cause) {
      for (const { reject } of batch) reject(cause)
    }
  }
}
