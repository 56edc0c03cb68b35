import type { Migration } from './migration.ts'

const ENDING = (text: string, integer: string) =>
  `created_at ${text} not null, updated_at ${text} not null, deleted_at ${text}, revision ${integer} not null`

/**
 * The tables and indexes of the first release, except for its index of the keys of contexts, which
 * PostgreSQL cannot fill with long keys. Otherwise, a backup with this schema could not be restored.
 * The migration 0010 replaces the index.
 */
export const initial: Migration = {
  name: '0001-initial',
  statements: ({ text, real, integer }) => [
    `create table ff_organization (
      id ${text} primary key, name ${text} not null, billing_email ${text}, metadata ${text} not null,
      plan_id ${text}, flag_count ${integer} not null, project_count ${integer} not null,
      environment_count ${integer} not null, trial_starts_at ${text}, trial_ends_at ${text},
      current_period_end ${text}, api_usage bigint not null, has_used_paid_trial boolean not null,
      period_start ${text}, period_day ${integer}, payment_customer_id ${text}, ${ENDING(text, integer)})`,
    'create index ff_organization_period on ff_organization (current_period_end)',
    'create index ff_organization_plan on ff_organization (plan_id)',
    'create index ff_organization_payment on ff_organization (payment_customer_id)',
    `create table ff_plan (
      id ${text} primary key, name ${text} not null, max_projects bigint, max_flags bigint,
      max_environments bigint, max_api_calls bigint, trial_days ${integer},
      most_popular boolean not null, product_link ${text}, stripe_product_id ${text},
      stripe_price_id ${text}, stripe_monthly_price_id ${text}, stripe_annual_price_id ${text},
      overage_rate_eur_cents ${integer} not null, overage_block_size ${integer} not null,
      grace_buffer_pct ${integer} not null, ${ENDING(text, integer)})`,
    `create table ff_invoice (
      id ${text} primary key, org_id ${text} not null, stripe_invoice_id ${text},
      stripe_subscription_id ${text}, amount_due bigint not null, amount_paid bigint not null,
      currency ${text} not null, status ${text} not null, invoice_pdf ${text},
      hosted_invoice_url ${text}, period_start ${text} not null, period_end ${text} not null,
      due_date ${text}, paid_at ${text}, metadata ${text} not null, ${ENDING(text, integer)})`,
    'create index ff_invoice_organization on ff_invoice (org_id)',
    'create index ff_invoice_stripe on ff_invoice (stripe_invoice_id)',
    `create table ff_payment_event (
      id ${text} primary key, customer_id ${text} not null, event_id ${text} not null,
      occurred_at ${text} not null, subject ${text} not null, settled_event_id ${text},
      received_at ${text} not null)`,
    'create index ff_payment_event_customer on ff_payment_event (customer_id)',
    'create index ff_payment_event_age on ff_payment_event (settled_event_id, received_at)',
    `create table ff_project (
      id ${text} primary key, org_id ${text} not null, "key" ${text} not null, name ${text} not null,
      description ${text} not null, ${ENDING(text, integer)})`,
    `create unique index ff_project_key on ff_project (org_id, "key") where deleted_at is null`,
    `create table ff_environment (
      id ${text} primary key, project_id ${text} not null, "key" ${text} not null,
      name ${text} not null, is_default boolean not null, context_privacy ${text} not null,
      ${ENDING(text, integer)})`,
    `create unique index ff_environment_key
      on ff_environment (project_id, "key") where deleted_at is null`,
    `create table ff_flag (
      id ${text} primary key, project_id ${text} not null, "key" ${text} not null,
      name ${text} not null, description ${text} not null, type ${text} not null,
      tags ${text} not null, archived_at ${text}, last_evaluated_at ${text}, ${ENDING(text, integer)})`,
    `create unique index ff_flag_key on ff_flag (project_id, "key") where deleted_at is null`,
    `create table ff_flag_state (
      id ${text} primary key, flag_id ${text} not null, environment_id ${text} not null,
      project_id ${text} not null, is_active boolean not null, default_variation_id ${text},
      off_variation_id ${text}, targets ${text} not null, prerequisites ${text} not null,
      ${ENDING(text, integer)})`,
    `create unique index ff_flag_state_place
      on ff_flag_state (flag_id, environment_id) where deleted_at is null`,
    'create index ff_flag_state_environment on ff_flag_state (environment_id)',
    `create table ff_variation (
      id ${text} primary key, flag_id ${text} not null, project_id ${text} not null,
      "key" ${text} not null, name ${text} not null, description ${text} not null,
      value ${text} not null, is_default boolean not null, order_index ${integer} not null,
      ${ENDING(text, integer)})`,
    `create unique index ff_variation_key on ff_variation (flag_id, "key") where deleted_at is null`,
    `create table ff_targeting_rule (
      id ${text} primary key, flag_id ${text} not null, environment_id ${text} not null,
      project_id ${text} not null, name ${text} not null, kind ${text} not null,
      conditions ${text} not null, segment_id ${text}, variation_id ${text}, rollout_id ${text},
      order_index ${integer} not null, ${ENDING(text, integer)})`,
    'create index ff_targeting_rule_place on ff_targeting_rule (flag_id, environment_id)',
    'create index ff_targeting_rule_segment on ff_targeting_rule (segment_id)',
    `create table ff_segment (
      id ${text} primary key, project_id ${text} not null, "key" ${text} not null,
      name ${text} not null, description ${text} not null, rules ${text} not null,
      logical_op ${text} not null, "force" boolean not null, key_attribute ${text} not null,
      included_count ${integer} not null, excluded_count ${integer} not null, ${ENDING(text, integer)})`,
    `create unique index ff_segment_key on ff_segment (project_id, "key") where deleted_at is null`,
    `create table ff_rollout (
      id ${text} primary key, flag_id ${text} not null, environment_id ${text} not null,
      project_id ${text} not null, name ${text} not null, strategy ${text} not null,
      bucket_by ${text} not null, salt ${text} not null, scheme ${text} not null,
      variation_id ${text}, percentage ${real}, variants ${text}, target_percentage ${real},
      increment ${real}, interval_hours ${real}, start_at ${text}, ranges ${text} not null,
      previous_ranges ${text},
      ${ENDING(text, integer)})`,
    'create index ff_rollout_place on ff_rollout (flag_id, environment_id)',
    `create table ff_scheduled_change (
      id ${text} primary key, flag_id ${text} not null, environment_id ${text} not null,
      project_id ${text} not null, apply_at ${text} not null, operation ${text} not null,
      target_id ${text}, body ${text}, status ${text} not null, applied_at ${text},
      failure ${text}, created_by ${text} not null, ${ENDING(text, integer)})`,
    'create index ff_scheduled_change_place on ff_scheduled_change (flag_id, environment_id)',
    'create index ff_scheduled_change_due on ff_scheduled_change (status, apply_at)',
    `create table ff_sdk_key (
      id ${text} primary key, environment_id ${text} not null, project_id ${text} not null,
      name ${text} not null, kind ${text} not null, prefix ${text} not null, hash ${text} not null,
      expires_at ${text}, revoked_at ${text}, rate_limit ${integer}, last_used_at ${text},
      ${ENDING(text, integer)})`,
    'create unique index ff_sdk_key_hash on ff_sdk_key (hash) where deleted_at is null',
    'create index ff_sdk_key_environment on ff_sdk_key (environment_id)',
    `create table ff_access_token (
      id ${text} primary key, org_id ${text}, name ${text} not null, role ${text} not null,
      prefix ${text} not null, hash ${text} not null, expires_at ${text}, last_used_at ${text},
      created_by ${text} not null, ${ENDING(text, integer)})`,
    'create unique index ff_access_token_hash on ff_access_token (hash) where deleted_at is null',
    'create index ff_access_token_organization on ff_access_token (org_id)',
    `create table ff_user (
      id ${text} primary key, email ${text} not null, name ${text} not null,
      password_hash ${text}, role ${text}, ${ENDING(text, integer)})`,
    'create unique index ff_user_email on ff_user (email) where deleted_at is null',
    `create table ff_member (
      id ${text} primary key, user_id ${text} not null, org_id ${text} not null,
      email ${text} not null, name ${text} not null, role ${text} not null, accepted_at ${text},
      link_hash ${text}, link_expires_at ${text}, ${ENDING(text, integer)})`,
    `create unique index ff_member_place
      on ff_member (org_id, user_id) where deleted_at is null`,
    'create index ff_member_user on ff_member (user_id)',
    'create index ff_member_link on ff_member (link_hash)',
    `create table ff_identity (
      id ${text} primary key, user_id ${text} not null, issuer ${text} not null,
      subject ${text} not null, ${ENDING(text, integer)})`,
    `create unique index ff_identity_subject
      on ff_identity (issuer, subject) where deleted_at is null`,
    'create index ff_identity_user on ff_identity (user_id)',
    `create table ff_login_session (
      id ${text} primary key, hash ${text} not null, user_id ${text} not null,
      method ${text} not null, expires_at ${text} not null, last_used_at ${text} not null,
      ${ENDING(text, integer)})`,
    'create unique index ff_login_session_hash on ff_login_session (hash) where deleted_at is null',
    'create index ff_login_session_user on ff_login_session (user_id)',
    `create table ff_audit_event (
      id ${text} primary key, event_type ${text} not null, payload ${text} not null,
      created_at ${text} not null, stream_id ${text} not null, org_id ${text} not null,
      project_id ${text} not null, actor_id ${text} not null, actor ${text} not null,
      sequence ${integer} not null, previous_hash ${text} not null, hash ${text} not null,
      position ${text} not null)`,
    'create index ff_audit_event_position on ff_audit_event (position)',
    'create index ff_audit_event_organization on ff_audit_event (org_id, position)',
    `create table ff_audit_head (
      id ${text} primary key, sequence ${integer} not null, hash ${text} not null,
      position ${text} not null)`,
    `create table ff_idempotency_record (
      id ${text} primary key, scope ${text} not null, body_hash ${text} not null, result ${text},
      expires_at ${text} not null, ${ENDING(text, integer)})`,
    `create unique index ff_idempotency_record_scope
      on ff_idempotency_record (scope) where deleted_at is null`,
    'create index ff_idempotency_record_expiry on ff_idempotency_record (expires_at)',
    `create table ff_observed_context (
      id ${text} primary key, environment_id ${text} not null, org_id ${text} not null,
      hash ${text} not null, kind ${text} not null, "key" ${text} not null, context_json ${text},
      first_seen ${text} not null, last_seen ${text} not null, seen_count bigint not null,
      evaluation_success boolean not null, variation_results ${text} not null,
      source ${text} not null, deleted_at ${text})`,
    `create unique index ff_observed_context_hash
      on ff_observed_context (environment_id, hash) where deleted_at is null`,
    'create index ff_observed_context_seen on ff_observed_context (environment_id, last_seen)',
    'create index ff_observed_context_last_seen on ff_observed_context (last_seen)',
    'create index ff_observed_context_organization on ff_observed_context (org_id, last_seen)',
    `create table ff_webhook (
      id ${text} primary key, org_id ${text} not null, url ${text} not null,
      event_types ${text} not null, is_active boolean not null, failing_since ${text},
      sealed_secret ${text} not null, ${ENDING(text, integer)})`,
    'create index ff_webhook_organization on ff_webhook (org_id)',
    `create table ff_webhook_delivery (
      id ${text} primary key, org_id ${text} not null, webhook_id ${text} not null,
      event_id ${text} not null, event_type ${text} not null, status ${text} not null,
      attempts ${integer} not null, next_attempt_at ${text}, last_status ${integer}, last_error ${text},
      duration_ms ${integer}, created_at ${text} not null)`,
    'create index ff_webhook_delivery_due on ff_webhook_delivery (status, next_attempt_at)',
    'create index ff_webhook_delivery_webhook on ff_webhook_delivery (webhook_id, event_id)',
    'create index ff_webhook_delivery_age on ff_webhook_delivery (created_at)',
    `create table ff_user_sketch (
      id ${text} primary key, environment_id ${text} not null, flag_id ${text}, hour ${text} not null,
      instance_id ${text} not null, registers ${text} not null)`,
    'create index ff_user_sketch_place on ff_user_sketch (environment_id, flag_id, hour)',
    'create index ff_user_sketch_hour on ff_user_sketch (hour)',

    `create table ff_environment_version (
      environment_id ${text} primary key, version ${integer} not null, digest ${text} not null)`,
    `create table ff_version (
      environment_id ${text} not null, version ${integer} not null, published_at ${text} not null,
      event_id ${text}, flags ${text} not null, segments ${text} not null,
      primary key (environment_id, version))`,
    `create table ff_publication (
      environment_id ${text} not null, kind ${text} not null, entity_id ${text} not null,
      version ${integer} not null, base_version ${integer} not null, body ${text},
      primary key (environment_id, kind, entity_id, version))`,
    `create table ff_publication_head (
      environment_id ${text} not null, kind ${text} not null, entity_id ${text} not null,
      version ${integer} not null, base_version ${integer} not null,
      primary key (environment_id, kind, entity_id))`,
    `create index ff_publication_head_version
      on ff_publication_head (environment_id, version)`,

    `create table ff_evaluation_count (
      environment_id ${text} not null, flag_id ${text} not null, minute ${text} not null,
      variation_id ${text} not null, reason ${text} not null, source ${text} not null,
      count bigint not null, micros bigint not null,
      primary key (environment_id, flag_id, minute, variation_id, reason, source))`,
    'create index ff_evaluation_count_minute on ff_evaluation_count (minute)',
  ],
}
