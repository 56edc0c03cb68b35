import type { Endpoint } from '@ff/protocol/management'
import type { Client, Clock, Instance, Logger } from '@ff/server/plane'
import type { ChangeFeed, Storage, StorageSession } from '@ff/storage'
import type * as z from 'zod'
import type { Actor, FindActor } from '../access/actors.ts'
import type { AuditWalks } from '../audit/audit-walks.ts'
import type { CredentialAttempts } from '../authentication/credential-attempts.ts'
import type { LogInServices } from '../authentication/log-in-services.ts'
import type { IdentityProvider } from '../ports/identity-provider.ts'
import type { Payments } from '../ports/payments.ts'
import type { WebhookSender } from '../ports/webhook-sender.ts'
import type { IdempotentRequest } from '../requests/idempotency.ts'
import type { InputOf } from '../requests/input.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import type { PublishCheck } from './publish-check.ts'

/** What the use cases of one server share. */
export interface Installation {
  readonly storage: Storage
  readonly changeFeed: ChangeFeed
  readonly clock: Clock
  readonly logger: Logger
  /** `null` if users do not log in to this server. */
  readonly logInServices: LogInServices | null
  /** Whether `X-Forwarded-*` is written by a proxy in front, which every request passes. */
  readonly trustProxy: boolean
  /** Bounds how often credentials are looked up for callers who send wrong ones. */
  readonly credentialAttempts: CredentialAttempts
  /** Absent where nothing is evaluated for clients. */
  readonly instance?: Instance
  /** Looks up actors of the host application; absent when the host offers none. */
  readonly findActor?: FindActor | undefined
  /** A further way to log in; absent if there is none. */
  readonly identityProvider?: IdentityProvider | undefined
  /** Where browsers find this server, without a slash at the end. */
  readonly publicUrl?: string | undefined
  /** Absent when nobody is paid. */
  readonly payments?: Payments | undefined
  /** undefined where no key is given: what needs it is refused. */
  readonly secretBox: SecretBox | undefined
  /** What changes are judged by before they are published. */
  readonly publishCheck: PublishCheck
  /** The walks through the audit log that are under way in this process. */
  readonly auditWalks: AuditWalks
  readonly webhookSender: WebhookSender
  /** Says that there is something to send, to whoever in this process may be waiting for it. */
  wakeWebhooks(): void
}

/** What every use case takes first: where things are kept, and who asks. */
export interface Management extends Installation {
  readonly actor: Actor
  /** Absent for what is done in process. */
  readonly caller?: Client
  /** Done last in the transaction of a change, and undoes the change when it throws. */
  readonly alongside?: (session: StorageSession) => Promise<void>
  /** Set when the same request may come again: what it changes is changed once. */
  readonly idempotentRequest?: IdempotentRequest | undefined
}

/** What an endpoint answers with; of `lines`, one after another. */
type ResultOf<E extends Endpoint> = E extends { readonly lines: true }
  ? AsyncIterable<z.output<E['response']>>
  : z.output<E['response']>

/** The headers that a use case adds to its reply. */
interface AddedHeaders {
  /** In the spelling they are sent in. */
  readonly headers?: Readonly<Record<string, string>>
  /** The values of `Set-Cookie`, each sent in a header of its own. */
  readonly cookies?: readonly string[]
}

/** A result with headers of its own, such as cookies or a redirect's location. */
export class WithHeaders<T> {
  readonly result: T
  readonly headers: Readonly<Record<string, string>>
  readonly cookies: readonly string[]

  constructor(result: T, { headers = {}, cookies = [] }: AddedHeaders) {
    this.result = result
    this.headers = headers
    this.cookies = cookies
  }
}

/** Does what an endpoint promises. Throws `FlagError` for everything it refuses. */
export type UseCase<E extends Endpoint> = (
  management: Management,
  input: InputOf<E>,
) => Promise<ResultOf<E> | WithHeaders<ResultOf<E>>>
