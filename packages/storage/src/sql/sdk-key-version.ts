import { plain } from './sql-driver.ts'

/** Selects the `version` of all SDK keys. Returns no row for version 0. */
export const SDK_KEY_VERSION = plain('select version from ff_sdk_key_version')

/**
 * Increases the version of all SDK keys. Other transactions that change keys wait for the end of this
 * one, so that the versions are in the order of the commits.
 */
export const NEXT_SDK_KEY_VERSION = plain(`
  insert into ff_sdk_key_version (id, version) values (1, 1)
  on conflict (id) do update set version = ff_sdk_key_version.version + 1`)
