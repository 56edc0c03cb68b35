import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as backup from '../src/backup/backup.ts'
import * as cluster from '../src/cluster/cluster.ts'
import * as contract from '../src/contract/contract.ts'
import * as storage from '../src/index.ts'
import * as postgres from '../src/postgres/postgres.ts'
import * as redis from '../src/redis/redis.ts'
import * as sqlite from '../src/sqlite/sqlite.ts'

describe('@ff/storage', () => {
  it('The storage package has exactly these entries', () => {
    const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
    expect(Object.keys(JSON.parse(manifest).exports)).toEqual([
      '.',
      './sqlite',
      './postgres',
      './redis',
      './cluster',
      './backup',
      './snapshots',
      './contract',
      './package.json',
    ])
  })

  it('The entries of the storage package export exactly these values', () => {
    expect(Object.keys(storage).sort()).toEqual([
      'COPY_HOLDER',
      'JOBS_LEASE',
      'KIND_RULES',
      'MAX_RECENT_EVENTS',
      'REPORT_LIFETIME_MS',
      'activateStore',
      'createDraft',
      'createStorage',
      'isReadOnly',
      'memory',
      'toFlagDefinition',
      'toPublishedSegment',
      'toRolloutDefinition',
    ])
    expect(Object.keys(sqlite).sort()).toEqual(['sqlite', 'sqliteTables'])
    expect(Object.keys(postgres).sort()).toEqual(['postgres', 'postgresTables'])
    expect(Object.keys(redis)).toEqual(['redis'])
    expect(Object.keys(backup).sort()).toEqual(['copyStore', 'restoreBackup', 'writeBackup'])
    expect(Object.keys(cluster).sort()).toEqual(['cluster', 'serveCluster'])
  })

  it('The contract entry exports one suite for each port', () => {
    expect(Object.keys(contract).sort()).toEqual([
      'changeFeedContract',
      'instanceReportsContract',
      'rateLimiterContract',
      'recentEventsContract',
      'severalWritersContract',
      'storageContract',
    ])
  })
})
