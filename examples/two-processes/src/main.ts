// Runs two servers until Ctrl-C, changes a flag at one of them every two seconds, and prints when the
// client of the other one has the change. Stop or suspend either store meanwhile:
//
//   DATABASE_URL=postgres://… REDIS_URL=redis://… node dist/main.js
import { setTimeout as pause } from 'node:timers/promises'
import { startServers } from './servers.ts'

const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = process.env
if (databaseUrl === undefined || redisUrl === undefined) {
  throw new Error('Set DATABASE_URL and REDIS_URL, for example to the stores of a container.')
}

const servers = await startServers({ databaseUrl, redisUrl })
let isStopping = false
process.once('SIGINT', () => {
  isStopping = true
})

for (let round = 0; !isStopping; round += 1) {
  const [from, to] = round % 2 === 0 ? servers : servers.toReversed()
  if (from === undefined || to === undefined) break
  const isOn = !to.isNewCheckout
  const changedAt = performance.now()
  const status = await from.setNewCheckout(isOn)
  while (status === 200 && to.isNewCheckout !== isOn && !isStopping) await pause(5)
  const tookMs = Math.round(performance.now() - changedAt)
  const outcome =
    status === 200 ? `reached the other client after ${tookMs} ms` : `failed with ${status}`
  const counts = servers.map(({ evaluations: { succeeded, failed } }) => {
    return `${succeeded} evaluations, ${failed} failed`
  })
  console.log(`The change ${outcome}. First server: ${counts[0]}. Second server: ${counts[1]}.`)
  await pause(2000)
}

for (const server of servers) await server.close()
