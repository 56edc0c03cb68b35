import { expect, it } from 'vitest'
import { sized } from '../../../../server/test/drills/scale.ts'
import { readFromPostgres } from '../../../../storage/test/postgres-schema.ts'
import { newPostgresSchema } from '../../../../storage/test/postgres-store.ts'
import { addTenants } from '../data-file.ts'
import { killServers } from '../killed-servers.ts'

const KILLS = sized({ full: 200, small: 2 })

it('A server over PostgreSQL that is killed during writes keeps acknowledged writes', {
  timeout: 120_000 + KILLS * 20_000,
}, async () => {
  const { url: location } = await newPostgresSchema()
  const store = { location, ...(await addTenants(location)) }
  await killServers({ store, kills: KILLS, ended: () => sessionsEnded(location) })
})

/** Waits for the end of the transactions whose commit PostgreSQL received before the kill. */
async function sessionsEnded(url: string): Promise<void> {
  const sessions = `select pid from pg_stat_activity
    where application_name = current_setting('application_name') and pid <> pg_backend_pid()`
  await expect.poll(() => readFromPostgres(sessions, url)).toEqual([])
}
