import * as z from 'zod'
import { record } from './record.ts'
import { text } from './scalars.ts'

/** What a caller must be allowed to do; which role may is the server's table. */
export type Permission =
  /** See the organization, its people, tokens and projects, and everything that belongs to them. */
  | 'configuration.read'
  /** Change flags, variations, targeting rules, rollouts and segments. */
  | 'flags.write'
  /** Change projects, environments and SDK keys. */
  | 'projects.write'
  /** Issue and delete access tokens up to the caller's own role. */
  | 'tokens.write'
  /** Add, change and remove members up to the caller's own role. */
  | 'members.write'
  /** Say where the organization's changes are told, as they happen. */
  | 'webhooks.write'
  /** Change the organization's own details. */
  | 'organization.write'
  /** Delete the organization and everything in it. */
  | 'organization.delete'
  /** Found organizations. */
  | 'organizations.create'
  /** See what the organization owes and has paid. */
  | 'billing.read'
  /** Choose and pay for a plan at the payment provider. */
  | 'billing.write'
  /** See which plans there are. */
  | 'plans.read'
  /** Change plans, and which organization has which. */
  | 'plans.write'
  /** See what was done, and by whom. */
  | 'audit.read'
  /** Remove for ever what was observed of a person. */
  | 'contexts.forget'

/** One management endpoint: all that a router, a client or a reference page needs to know. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Parameters stand in braces: `/projects/{projectId}`. Fixed segments win over parameters. */
  readonly path: string
  /**
   * `anyone`: no credentials are asked for, as to log in. `oneself`: whoever is known may, for it
   * is about nobody else.
   */
  readonly permission: Permission | 'anyone' | 'oneself'
  readonly params: z.ZodType
  readonly query: z.ZodType
  /** `noBody` when none is read. */
  readonly body: z.ZodType
  /** How large a body may be, where that is more than the SDK side's limit. */
  readonly maxBodyBytes?: number
  /** The body is what another signed, byte for byte: it reaches the use case as text. */
  readonly rawBody?: true
  /** The status of success. */
  readonly status: 200 | 201 | 302
  /** The payload of the envelope; of `lines`, each of them. */
  readonly response: z.ZodType
  /** Answered without the envelope, as JSON lines that are sent while they are read. */
  readonly lines?: true
  /** What the schemas do not show, as sentences of the reference documentation. */
  readonly notes?: string
}

export const noBody = z.undefined()
export const noQuery = record({}, {})

/** A whole number in decimal, in a path or a query. */
export const wholeNumber = (min: number, max: number) =>
  z.codec(z.string().regex(/^\d{1,10}$/, 'must be a whole number'), z.int().min(min).max(max), {
    decode: Number,
    encode: String,
  })

/** `true` or `false` in a query. */
export const truth = z.codec(z.enum(['true', 'false']), z.boolean(), {
  decode: (word) => word === 'true',
  encode: (value) => (value ? 'true' : 'false'),
})

/** Which part of a list: 50 items from the first page unless said otherwise. */
export const paging = {
  page: wholeNumber(1, 1_000_000_000).optional().meta({ default: 1 }),
  limit: wholeNumber(1, 100).optional().meta({ default: 50 }),
}
export const pageQuery = record(paging, {})
/** `search` occurs in a name, a key or an address of the thing, ignoring ASCII case. */
export const searchQuery = record({ search: text(256).min(1).optional(), ...paging }, {})

/** What endpoints of one kind have in common; a row may say otherwise. */
export const reading = {
  method: 'GET',
  permission: 'configuration.read',
  body: noBody,
  status: 200,
} as const
export const creating = {
  method: 'POST',
  permission: 'flags.write',
  query: noQuery,
  status: 201,
} as const
export const changing = {
  method: 'PUT',
  permission: 'flags.write',
  query: noQuery,
  status: 200,
} as const
export const deleting = {
  method: 'DELETE',
  permission: 'flags.write',
  query: noQuery,
  body: noBody,
  status: 200,
  response: z.null(),
} as const
