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

/** The services that the use cases of one server share. */
export interface Installation {
  readonly storage: Storage
  readonly changeFeed: ChangeFeed
  readonly clock: Clock
  readonly logger: Logger
  /** `null` if users do not log in to this server. */
  readonly logInServices: LogInServices | null
  /** Whether a proxy in front of the server sets `X-Forwarded-*` in every request. */
  readonly trustProxy: boolean
  /** Limits the look-ups of wrong credentials. */
  readonly credentialAttempts: CredentialAttempts
  /** Absent if the process evaluates nothing for clients. */
  readonly instance?: Instance
  /** Looks up actors of the host application; absent if the host does not provide it. */
  readonly findActor?: FindActor | undefined
  /** A further way to log in; absent if there is none. */
  readonly identityProvider?: IdentityProvider | undefined
  /** The URL of this server for browsers, without a trailing slash. */
  readonly publicUrl?: string | undefined
  /** Absent if there is no payment provider. */
  readonly payments?: Payments | undefined
  /** `undefined` without a `secretKey`; use cases that need it are refused. */
  readonly secretBox: SecretBox | undefined
  /** Checks changes before they are published. */
  readonly publishCheck: PublishCheck
  /** The walks through the audit log that are in progress in this process. */
  readonly auditWalks: AuditWalks
  readonly webhookSender: WebhookSender
  /** Notifies the dispatcher of this process that deliveries are due. */
  wakeWebhooks(): void
}

/** The first argument of every use case: the services, and the actor. */
export interface Management extends Installation {
  readonly actor: Actor
  /** Absent for a call in process. */
  readonly caller?: Client
  /** Runs last in the transaction of a change; rolls the change back if it throws. */
  readonly alongside?: (session: StorageSession) => Promise<void>
  /** Set if the request may be repeated; its change is applied once. */
  readonly idempotentRequest?: IdempotentRequest | undefined
}

/** The result of an endpoint; for `lines`, an iterable of them. */
type ResultOf<E extends Endpoint> = E extends { readonly lines: true }
  ? AsyncIterable<z.output<E['response']>>
  : z.output<E['response']>

/** The headers that a use case adds to its reply. */
interface AddedHeaders {
  /** By name, as sent. */
  readonly headers?: Readonly<Record<string, string>>
  /** The values of `Set-Cookie`, each sent in a header of its own. */
  readonly cookies?: readonly string[]
}

/** A result with additional headers, such as cookies or the location of a redirect. */
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

/** The implementation of an endpoint. Throws `FlagError` for everything it refuses. */
export type UseCase<E extends Endpoint> = (
  management: Management,
  input: InputOf<E>,
) => Promise<ResultOf<E> | WithHeaders<ResultOf<E>>>
