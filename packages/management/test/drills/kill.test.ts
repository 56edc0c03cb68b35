import { it } from 'vitest'
import { sized } from '../../../server/test/drills/scale.ts'
import { createDataFile } from './data-file.ts'
import { killServers } from './killed-servers.ts'

const KILLS = sized({ full: 200, small: 4 })

it('A server that is killed during writes keeps acknowledged writes and restarts quickly', {
  timeout: KILLS * 20_000,
}, async () => {
  const file = await createDataFile()
  await killServers({ store: { ...file, location: file.path }, kills: KILLS })
})
