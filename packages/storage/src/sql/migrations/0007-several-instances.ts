import type { Migration } from './migration.ts'

/**
 * The instance in the key of evaluation counts, so that instances write different rows. The instance
 * of existing counts is an empty text. SQLite cannot change a primary key, so the table is replaced.
 * A table for API calls that are not yet part of the usage of their organization, and one for the
 * version of all SDK keys, which has one row, or none for version 0.
 */
export const severalInstances: Migration = {
  name: '0007-several-instances',
  statements: ({ text, integer }) => [
    'alter table ff_evaluation_count rename to ff_evaluation_count_of_all',
    'drop index ff_evaluation_count_minute',
    `create table ff_evaluation_count (
      environment_id ${text} not null, flag_id ${text} not null, minute ${text} not null,
      variation_id ${text} not null, reason ${text} not null, source ${text} not null,
      instance_id ${text} not null, count bigint not null, micros bigint not null,
      primary key (environment_id, flag_id, minute, variation_id, reason, source, instance_id))`,
    `insert into ff_evaluation_count
      select environment_id, flag_id, minute, variation_id, reason, source, '', count, micros
      from ff_evaluation_count_of_all`,
    'drop table ff_evaluation_count_of_all',
    'create index ff_evaluation_count_minute on ff_evaluation_count (minute)',
    `create table ff_api_calls (
      organization_id ${text} not null, instance_id ${text} not null, calls bigint not null,
      primary key (organization_id, instance_id))`,
    `create table ff_sdk_key_version (id ${integer} primary key, version ${integer} not null)`,
  ],
}
