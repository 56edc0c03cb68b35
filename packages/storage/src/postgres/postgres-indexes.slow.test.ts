import { expect, it } from 'vitest'
import { readFromPostgres } from '../../test/postgres-schema.ts'
import { openMigratedPostgres } from '../../test/postgres-store.ts'

/**
 * The greatest length of a row of a B-tree index: a third of a page, in bytes. PostgreSQL may
 * compress a row first, but not one of random text.
 */
const MOST_BYTES = 2704
/** The bytes of a row beside its texts: a header, and at most eight bytes for each column. */
const ROW_BYTES = 8

const UUID = 36
const TIMESTAMP = 24
const SHA_256 = 64
/** A key that a user chooses, such as that of a flag; only ASCII. */
const KEY = 128
/** An id of the payment provider: 255 UTF-16 units of at most three bytes. */
const PAYMENT_ID = 3 * 255
/** The id of an audit entry: the name of its chain and a number. */
const ENTRY_ID = 'changes:'.length + UUID + 1 + 20
/** The words of a closed list, such as a status. */
const WORD = 32

/** The greatest length of each text in an index, in bytes of UTF-8. */
const LONGEST: Readonly<Record<string, number>> = {
  'ff_access_token.hash': SHA_256,
  'ff_audit_event.id': ENTRY_ID,
  'ff_audit_event.position': TIMESTAMP + UUID,
  'ff_audit_head.id': ENTRY_ID,
  'ff_environment.key': KEY,
  'ff_evaluation_count.minute': TIMESTAMP,
  'ff_evaluation_count.reason': WORD,
  'ff_evaluation_count.source': WORD,
  'ff_flag.key': KEY,
  'ff_idempotency_record.expires_at': TIMESTAMP,
  'ff_idempotency_record.scope': SHA_256,
  'ff_identity.issuer': 3 * 512,
  'ff_identity.subject': 3 * 255,
  'ff_invoice.stripe_invoice_id': PAYMENT_ID,
  'ff_lease.name': WORD,
  'ff_login_session.hash': SHA_256,
  'ff_member.link_hash': SHA_256,
  'ff_migration.name': 2 * WORD,
  'ff_observed_context.hash': SHA_256,
  'ff_observed_context.key': Number.POSITIVE_INFINITY,
  'ff_observed_context.last_seen': TIMESTAMP,
  'ff_organization.current_period_end': TIMESTAMP,
  'ff_organization.payment_customer_id': PAYMENT_ID,
  'ff_organization.plan_id': PAYMENT_ID,
  'ff_payment_event.customer_id': PAYMENT_ID,
  'ff_payment_event.id': PAYMENT_ID,
  'ff_payment_event.received_at': TIMESTAMP,
  'ff_payment_event.settled_event_id': PAYMENT_ID,
  'ff_project.key': KEY,
  'ff_publication.kind': WORD,
  'ff_publication_head.kind': WORD,
  'ff_rate_window.name': 'log-in account '.length + SHA_256,
  'ff_scheduled_change.apply_at': TIMESTAMP,
  'ff_scheduled_change.status': WORD,
  'ff_sdk_key.hash': SHA_256,
  'ff_segment.key': KEY,
  'ff_user.email': 3 * 254,
  'ff_user_sketch.hour': TIMESTAMP,
  'ff_variation.key': KEY,
  'ff_webhook_delivery.created_at': TIMESTAMP,
  'ff_webhook_delivery.event_id': ENTRY_ID,
  'ff_webhook_delivery.next_attempt_at': TIMESTAMP,
  'ff_webhook_delivery.status': WORD,
}

const INDEXES = `
  select cast(indexes.relname as text) as index, methods.amname as method,
    array_agg(cast(tables.relname || '.' || columns.attname as text)
      order by columns.attnum) as columns
  from pg_index
    join pg_class as indexes on indexes.oid = pg_index.indexrelid
    join pg_class as tables on tables.oid = pg_index.indrelid
    join pg_am as methods on methods.oid = indexes.relam
    join pg_attribute as columns on columns.attrelid = tables.oid
      and columns.attnum = any (pg_index.indkey) and columns.atttypid = cast('text' as regtype)
  where tables.relnamespace = cast(current_schema() as regnamespace)
  group by indexes.relname, methods.amname order by 1`

/** Returns the greatest length of a column; that of a UUID if it is the id of a record. */
function longestIn(column: string): number | undefined {
  return LONGEST[column] ?? (/[._](id)$/.test(column) ? UUID : undefined)
}

it('Every index on text can contain the longest texts that are accepted', async () => {
  const { url } = await openMigratedPostgres()
  const indexes = await readFromPostgres(INDEXES, url)
  expect(indexes.length).toBeGreaterThan(60)
  const seen = new Set<string>()
  const tooLong = indexes.flatMap(({ index, method, columns }) => {
    const names = columns as readonly string[]
    const lengths = names.map((name) => longestIn(name))
    for (const name of names) seen.add(name)
    const total = lengths.reduce<number>((sum, each) => sum + (each ?? Number.NaN) + ROW_BYTES, 0)
    // A hash index contains the hash of a text.
    return method === 'hash' || total + ROW_BYTES <= MOST_BYTES
      ? []
      : [`${index}: ${names} ${total}`]
  })
  expect(tooLong).toEqual([])
  expect(Object.keys(LONGEST).filter((column) => !seen.has(column))).toEqual([])
})
