import type { AuditEvent, AuditedFields } from '@ff/protocol/management'
import type { Storage } from '@ff/storage'
import * as z from 'zod'
import { type Clock, timestampAt } from '../clock.ts'
import { changeEvent } from './apply-change.ts'
import { appendAudit, chainName, type NewAuditEntry } from './audit-chain.ts'

type LoginEventType = 'user.login_success' | 'user.login_failed'

/** That somebody came in, or tried to. */
export type LoginAttempt = {
  readonly [T in LoginEventType]: {
    readonly type: T
    readonly fields: AuditedFields<T>
    /** Who it was; all empty when nobody is known by the name given. */
    readonly actor: AuditEvent['actor']
    /** Empty for the installation's own people, and when nobody is known. */
    readonly orgId: string
  }
}[LoginEventType]

interface Waiting {
  readonly entry: NewAuditEntry
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
}

/** How many entries one transaction keeps, which is how long a change may have to wait. */
const MOST_AT_ONCE = 50

/**
 * Writes log-ins, accepted or refused, to their own chains. However many come at once, the store
 * is given one transaction of them at a time, so that changes find their way in between.
 */
export class LoginAudit {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #waiting: Waiting[] = []
  #isWriting = false

  constructor({ storage, clock }: { readonly storage: Storage; readonly clock: Clock }) {
    this.#storage = storage
    this.#clock = clock
  }

  /**
   * Resolves when the entry is kept; rejects when the store refuses it. A name that is no e-mail
   * address is left out: people type passwords there.
   */
  record({ type, fields, actor, orgId }: LoginAttempt): Promise<void> {
    const kept = { ...fields, email: isEmail(fields.email) ? fields.email : '' }
    const { before, after } = changeEvent(type, actor.id, { before: null, after: kept })
    const entry = {
      eventType: type,
      payload: { before, after } as NewAuditEntry['payload'],
      createdAt: timestampAt(this.#clock),
      streamId: `user:${actor.id}`,
      orgId,
      projectId: '',
      actorId: actor.id,
      actor,
    }
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
