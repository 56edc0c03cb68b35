// Writes to a data file from four loops at once, and prints what has been acknowledged.
// Parameters: the file, and how many transactions each loop does (default: until it is killed).
import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { sqlite } from '../src/sqlite/sqlite.ts'
import { ENVIRONMENT_ID, writePair } from './write-pair.ts'

const LOOPS = 4

const [path = '', rounds = 'Infinity'] = process.argv.slice(2)
const { storage } = sqlite({ path })
await storage.migrate()
say('ready')
await Promise.all(Array.from({ length: LOOPS }, writeMany))
await storage.loadFlagSet(ENVIRONMENT_ID)

async function writeMany(): Promise<void> {
  for (let round = 0; round < Number(rounds); round += 1) {
    const id = randomUUID()
    await writePair(storage, id)
    say(id)
  }
}

function say(line: string): void {
  writeSync(1, `${line}\n`)
}
