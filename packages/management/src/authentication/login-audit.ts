import type { AuditEvent, AuditedFields } from '@ff/protocol/management'
import { type Cancel, type Clock, type Logger, timestampAt } from '@ff/server/plane'
import type { Storage } from '@ff/storage'
import * as z from 'zod'
import { appendAudit, chainName, type NewAuditEntry } from '../audit/audit-chain.ts'
import { changeEvent } from '../audit/change-event.ts'

type LoginEventType =
  | 'user.login_success'
  | 'user.login_failed'
  | 'user.login_limited'
  | 'user.password_changed'
  | 'member.accepted'

/** One event of the chains that are kept apart from those of changes. */
type LoginEvent<T extends LoginEventType> = {
  readonly [E in T]: {
    readonly type: E
    readonly fields: AuditedFields<E>
    /** Who it was; all empty when nobody is known by the name given. */
    readonly actor: AuditEvent['actor']
    /** Empty for the installation's own people, and when nobody is known. */
    readonly orgId: string
  }
}[T]

/** That somebody came in, or tried to. */
export type LoginAttempt = LoginEvent<'user.login_success' | 'user.login_failed'>
export type LoginRefusal = LoginEvent<'user.login_failed'>

/** The actor where nobody is known. */
export const NOBODY_KNOWN: AuditEvent['actor'] = { id: '', email: '', name: '', role: '' }

interface Waiting {
  readonly entry: NewAuditEntry
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
}

/** How many entries one transaction keeps, which is how long a change may have to wait. */
const MOST_AT_ONCE = 50

/** Of refused log-ins, so many a minute have entries of their own; the rest are counted. */
const REFUSALS_A_MINUTE = 60
const MINUTE_MS = 60_000

/** The entry of an event of people's own doing, for its chain. */
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

interface LoginAuditOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Writes log-ins, accepted or refused, to their own chains. However many come at once, the store
 * is given one transaction of them at a time, so that changes find their way in between; and of a
 * flood of refused ones most are only counted, so that it does not fill the disk.
 */
export class LoginAudit {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #waiting: Waiting[] = []
  #isWriting = false
  /** What was refused in this minute: with an entry, and without. */
  #kept = 0
  #counted = 0
  #since = ''
  #minute: Cancel | undefined

  constructor({ storage, clock, logger }: LoginAuditOptions) {
    this.#storage = storage
    this.#clock = clock
    this.#logger = logger
  }

  /**
   * Resolves when the entry is kept; rejects when the store refuses it. A name that is no e-mail
   * address is left out: people type passwords there.
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

  /** Counts what was refused before anything was tried; one entry a minute tells how many. */
  countRefused(): void {
    this.#startMinute()
    this.#counted += 1
  }

  /** Keeps what was counted so far; nothing is counted afterwards. */
  async close(): Promise<void> {
    this.#minute?.()
    await this.#endMinute()
    this.#minute?.()
  }

  #startMinute(): void {
    if (this.#minute !== undefined) return
    this.#since = timestampAt(this.#clock)
    this.#minute = this.#clock.schedule(MINUTE_MS, () => void this.#endMinute())
  }

  async #endMinute(): Promise<void> {
    const [attempts, since] = [this.#counted, this.#since]
    this.#minute = undefined
    this.#kept = 0
    this.#counted = 0
    if (attempts === 0) return
    try {
      const fields = { attempts, since }
      await this.#keep({ type: 'user.login_limited', fields, actor: NOBODY_KNOWN, orgId: '' })
    } catch (cause) {
      this.#logger.error('refused log-ins could not be audited', { attempts, since, cause })
    }
  }

  #keep(event: LoginEvent<LoginEventType>): Promise<void> {
    const entry = loginEntry(event, timestampAt(this.#clock))
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

  /** Those that have waited longest and go to one chain. */
  #take(): readonly Waiting[] {
    const orgId = this.#waiting[0]?.entry.orgId
    const end = this.#waiting.findIndex(({ entry }) => entry.orgId !== orgId)
    return this.#waiting.splice(0, Math.min(end === -1 ? MOST_AT_ONCE : end, MOST_AT_ONCE))
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const lock = chainName('logins', batch[0]?.entry.orgId ?? '')
      await this.#storage.transaction(lock, async (session) => {
        for (const { entry } of batch) await appendAudit(session, entry)
      })
      for (const { resolve } of batch) resolve()
    } catch (cause) {
      for (const { reject } of batch) reject(cause)
    }
  }
}

function isEmail(text: string): boolean {
  return z.email().max(254).safeParse(text).success
}
