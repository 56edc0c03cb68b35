// Evaluates all flags of an environment again and again, as an application in which a server runs.
// Parameters: the URL of a PostgreSQL database, the id of the environment, the pause between two
// evaluations and the duration of a round, in milliseconds.
// Prints `ready` when it has evaluated once, and the number of all evaluations after each round. A
// round begins with each line of the input. At its end, writes the usage, and prints `closed`.
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { postgres } from '@ff/storage/postgres'

const [url = '', environmentId = '', everyMs, roundMs] = process.argv.slice(2)
const flags = createFlagServer({ ...postgres({ url }), management: createManagement() })
await flags.start()
let evaluations = 0
await evaluate()
process.stdout.write('ready\n')
for await (const _ of createInterface({ input: process.stdin })) {
  for (const end = Date.now() + Number(roundMs); Date.now() < end; await pause(Number(everyMs))) {
    await evaluate()
  }
  process.stdout.write(`${evaluations}\n`)
}
await flags.close()
process.stdout.write('closed\n')
process.exit(0)

async function evaluate() {
  await flags.allOrThrow({ environmentId }, { kind: 'user', key: `user-${evaluations % 10}` })
  evaluations += 1
}
