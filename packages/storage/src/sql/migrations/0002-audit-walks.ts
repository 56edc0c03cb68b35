import type { Migration } from './migration.ts'

/** An index for reading the audit entries of an organization in the order of their ids. */
export const auditWalks: Migration = {
  name: '0002-audit-walks',
  statements: () => ['create index ff_audit_event_organization_id on ff_audit_event (org_id, id)'],
}
