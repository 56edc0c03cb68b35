import { median } from '../../../core/bench/processes.ts'
import { ScryptPasswordHasher } from '../../src/node/password-hasher.ts'

// Compares the time of a refused log-in of an unknown user with that of a user with a password. If
// they differed, the time of a response would show whether an account exists.
const ROUNDS = 50

const hasher = new ScryptPasswordHasher()
const text = await hasher.hash('correct horse battery staple')

async function millisOf(hash: string | null): Promise<number> {
  const startedAt = performance.now()
  await hasher.verify('wrong', hash)
  return performance.now() - startedAt
}

const known: number[] = []
const ratios: number[] = []
for (let round = 0; round < ROUNDS; round += 1) {
  const ms = await millisOf(text)
  known.push(ms)
  ratios.push((await millisOf(null)) / ms)
}
console.log(`verification of a wrong password: ${median(known).toFixed(0)} ms`)
console.log(`unknown user / known user: ${median(ratios).toFixed(3)} × (target: 0.95 to 1.05)`)
