// Subscribes to the changes of a PostgreSQL database, closes the store and prints "closed".
// Parameter: the URL of the database.
import { writeSync } from 'node:fs'
import { postgres } from '../src/postgres/postgres.ts'

const { storage, changeFeed } = postgres({ url: process.argv[2] ?? '' })
await changeFeed?.subscribe(() => undefined)
await storage.close()
writeSync(1, 'closed\n')
