import type { Migration } from './migration.ts'

const ENDING = (text: string) =>
  `created_at ${text} not null, updated_at ${text} not null, deleted_at ${text}, revision integer not null`

export const initial: Migration = {
  name: '0001-initial',
  statements: ({ text, real }) => [
    `create table ff_organization (
      id ${text} primary key, name ${text} not null, billing_email ${text}, metadata ${text} not null,
      plan_id ${text}, flag_count integer not null, project_count integer not null,
      environment_count integer not null, trial_starts_at ${text}, trial_ends_at ${text},
      current_period_end ${text}, api_usage integer not null, has_used_paid_trial boolean not null,
      ${ENDING(text)})`,
    `create table ff_project (
      id ${text} primary key, org_id ${text} not null, "key" ${text} not null, name ${text} not null,
      description ${text} not null, ${ENDING(text)})`,
    `create unique index ff_project_key on ff_project (org_id, "key") where deleted_at is null`,
    `create table ff_environment (
      id ${text} primary key, project_id ${text} not null, "key" ${text} not null,
      name ${text} not null, is_default boolean not null, context_privacy ${text} not null,
      ${ENDING(text)})`,
    `create unique index ff_environment_key
      on ff_environment (project_id, "key") where deleted_at is null`,
    `create table ff_flag (
      id ${text} primary key, project_id ${text} not null, "key" ${text} not null,
      name ${text} not null, description ${text} not null, type ${text} not null,
      tags ${text} not null, archived_at ${text}, last_evaluated_at ${text}, ${ENDING(text)})`,
    `create unique index ff_flag_key on ff_flag (project_id, "key") where deleted_at is null`,
    `create table ff_flag_state (
      id ${text} primary key, flag_id ${text} not null, environment_id ${text} not null,
      project_id ${text} not null, is_active boolean not null, default_variation_id ${text},
      off_variation_id ${text}, targets ${text} not null, prerequisites ${text} not null,
      ${ENDING(text)})`,
    `create unique index ff_flag_state_place
      on ff_flag_state (flag_id, environment_id) where deleted_at is null`,
    'create index ff_flag_state_environment on ff_flag_state (environment_id)',
    `create table ff_variation (
      id ${text} primary key, flag_id ${text} not null, project_id ${text} not null,
      "key" ${text} not null, name ${text} not null, description ${text} not null,
      value ${text} not null, is_default boolean not null, order_index integer not null,
      ${ENDING(text)})`,
    `create unique index ff_variation_key on ff_variation (flag_id, "key") where deleted_at is null`,
    `create table ff_targeting_rule (
      id ${text} primary key, flag_id ${text} not null, environment_id ${text} not null,
      project_id ${text} not null, name ${text} not null, kind ${text} not null,
      conditions ${text} not null, segment_id ${text}, variation_id ${text}, rollout_id ${text},
      order_index integer not null, ${ENDING(text)})`,
    'create index ff_targeting_rule_place on ff_targeting_rule (flag_id, environment_id)',
    'create index ff_targeting_rule_segment on ff_targeting_rule (segment_id)',
    `create table ff_segment (
      id ${text} primary key, project_id ${text} not null, "key" ${text} not null,
      name ${text} not null, description ${text} not null, rules ${text} not null,
      logical_op ${text} not null, "force" boolean not null, key_attribute ${text} not null,
      included_count integer not null, excluded_count integer not null, ${ENDING(text)})`,
    `create unique index ff_segment_key on ff_segment (project_id, "key") where deleted_at is null`,
    `create table ff_rollout (
      id ${text} primary key, flag_id ${text} not null, environment_id ${text} not null,
      project_id ${text} not null, name ${text} not null, strategy ${text} not null,
      bucket_by ${text} not null, salt ${text} not null, scheme ${text} not null,
      variation_id ${text}, percentage ${real}, variants ${text}, target_percentage ${real},
      increment ${real}, interval_hours ${real}, start_at ${text}, ranges ${text} not null,
      previous_ranges ${text},
      ${ENDING(text)})`,
    'create index ff_rollout_place on ff_rollout (flag_id, environment_id)',
    `create table ff_sdk_key (
      id ${text} primary key, environment_id ${text} not null, project_id ${text} not null,
      name ${text} not null, kind ${text} not null, prefix ${text} not null, hash ${text} not null,
      expires_at ${text}, revoked_at ${text}, rate_limit integer, last_used_at ${text},
      ${ENDING(text)})`,
    'create unique index ff_sdk_key_hash on ff_sdk_key (hash) where deleted_at is null',
    'create index ff_sdk_key_environment on ff_sdk_key (environment_id)',
    `create table ff_access_token (
      id ${text} primary key, org_id ${text}, name ${text} not null, role ${text} not null,
      prefix ${text} not null, hash ${text} not null, expires_at ${text}, last_used_at ${text},
      created_by ${text} not null, ${ENDING(text)})`,
    'create unique index ff_access_token_hash on ff_access_token (hash) where deleted_at is null',
    'create index ff_access_token_organization on ff_access_token (org_id)',
    `create table ff_user (
      id ${text} primary key, email ${text} not null, name ${text} not null, ${ENDING(text)})`,
    'create unique index ff_user_email on ff_user (email) where deleted_at is null',
    `create table ff_member (
      id ${text} primary key, user_id ${text} not null, org_id ${text} not null,
      email ${text} not null, name ${text} not null, role ${text} not null, ${ENDING(text)})`,
    `create unique index ff_member_place
      on ff_member (org_id, user_id) where deleted_at is null`,
    'create index ff_member_user on ff_member (user_id)',
    `create table ff_audit_event (
      id ${text} primary key, event_type ${text} not null, payload ${text} not null,
      created_at ${text} not null, stream_id ${text} not null, org_id ${text} not null,
      project_id ${text} not null, actor_id ${text} not null, actor ${text} not null,
      sequence integer not null, previous_hash ${text} not null, hash ${text} not null,
      position ${text} not null)`,
    'create index ff_audit_event_position on ff_audit_event (position)',
    'create index ff_audit_event_organization on ff_audit_event (org_id, position)',
    `create table ff_audit_head (
      id ${text} primary key, sequence integer not null, hash ${text} not null,
      position ${text} not null)`,
    `create table ff_idempotency_record (
      id ${text} primary key, scope ${text} not null, body_hash ${text} not null, result ${text},
      expires_at ${text} not null, ${ENDING(text)})`,
    `create unique index ff_idempotency_record_scope
      on ff_idempotency_record (scope) where deleted_at is null`,
    'create index ff_idempotency_record_expiry on ff_idempotency_record (expires_at)',

    `create table ff_environment_version (
      environment_id ${text} primary key, version integer not null, digest ${text} not null)`,
    `create table ff_version (
      environment_id ${text} not null, version integer not null, published_at ${text} not null,
      event_id ${text}, flags ${text} not null, segments ${text} not null,
      primary key (environment_id, version))`,
    `create table ff_publication (
      environment_id ${text} not null, kind ${text} not null, entity_id ${text} not null,
      version integer not null, base_version integer not null, body ${text},
      primary key (environment_id, kind, entity_id, version))`,
    `create table ff_publication_head (
      environment_id ${text} not null, kind ${text} not null, entity_id ${text} not null,
      version integer not null, base_version integer not null,
      primary key (environment_id, kind, entity_id))`,
  ],
}
