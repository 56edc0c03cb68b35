// Evaluates all flags of an environment again and again, as an application in which a server runs.
// Parameters: the URL of a PostgreSQL database, the id of the environment, the pause between two
// evaluations and the duration, in milliseconds.
// Prints `ready`, begins at the first input, and prints the number of evaluations when it has
// stopped.
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { postgres } from '@ff/storage/postgres'

const [url = '', environmentId = '', everyMs, durationMs] = process.argv.slice(2)
const flags = createFlagServer({ ...postgres({ url }), management: createManagement() })
await flags.start()
process.stdout.write('ready\n')
await once(process.stdin, 'data')
let evaluations = 0
for (const end = Date.now() + Number(durationMs); Date.now() < end; await pause(Number(everyMs))) {
  await flags.allOrThrow({ environmentId }, { kind: 'user', key: `user-${evaluations % 10}` })
  evaluations += 1
}
await flags.close()
process.stdout.write(`${evaluations}\n`)
process.exit(0)
