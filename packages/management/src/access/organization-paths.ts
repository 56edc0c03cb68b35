import type { Plan } from '@ff/protocol/management'
import type { Records } from '@ff/storage'
import type { AnyPath, LoadPath } from './access-request.ts'
import { assertPermittedOnInstallation, assertRoleMay, notFound, permitted } from './permissions.ts'

export interface OrganizationPath {
  readonly organization: Records['organization']
}

export interface PlanPath extends AnyPath {
  readonly plan: Plan
}

export interface MemberPath extends OrganizationPath {
  readonly member: Records['member']
}

export interface AccessTokenPath extends OrganizationPath {
  readonly token: Records['accessToken']
}

export interface WebhookPath extends OrganizationPath {
  readonly webhook: Records['webhook']
}

/** What belongs to no organization. */
export const loadInstallation: LoadPath<unknown, AnyPath> = async (_session, access) => {
  assertPermittedOnInstallation(access)
  return { organization: null }
}

/** What belongs to no organization and is readable in all of them. */
export const loadCatalogue: LoadPath<unknown, AnyPath> = async (_session, access) => {
  assertRoleMay(access)
  return { organization: null }
}

export const loadPlanPath: LoadPath<{ readonly planId: string }, PlanPath> = async (
  session,
  access,
  { planId },
) => {
  const path = await loadCatalogue(session, access, {})
  const plan = await session.find('plan', planId)
  if (plan === undefined) throw notFound('plan')
  return { ...path, plan }
}

export const loadOrganizationPath: LoadPath<{ readonly orgId: string }, OrganizationPath> = async (
  session,
  access,
  { orgId },
) => {
  const organization = await session.find('organization', orgId)
  return { organization: permitted(access, organization, 'organization') }
}

export const loadMemberPath: LoadPath<
  { readonly orgId: string; readonly userId: string },
  MemberPath
> = async (session, access, params) => {
  const path = await loadOrganizationPath(session, access, params)
  const where = { orgId: path.organization.id, userId: params.userId }
  const member = (await session.list('member', { where, limit: 1 })).data[0]
  if (member === undefined) throw notFound('member')
  return { ...path, member }
}

export const loadAccessTokenPath: LoadPath<
  { readonly orgId: string; readonly tokenId: string },
  AccessTokenPath
> = async (session, access, params) => {
  const path = await loadOrganizationPath(session, access, params)
  const token = await session.find('accessToken', params.tokenId)
  if (token?.orgId !== path.organization.id) throw notFound('token')
  return { ...path, token }
}

export const loadWebhookPath: LoadPath<
  { readonly orgId: string; readonly webhookId: string },
  WebhookPath
> = async (session, access, params) => {
  const path = await loadOrganizationPath(session, access, params)
  const webhook = await session.find('webhook', params.webhookId)
  if (webhook?.orgId !== path.organization.id) throw notFound('webhook')
  return { ...path, webhook }
}
