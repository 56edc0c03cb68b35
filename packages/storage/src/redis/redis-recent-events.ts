import { MAX_RECENT_EVENTS, type RecentEvents } from '../ports/recent-events.ts'
import type { Records } from '../ports/records.ts'
import type { RedisConnection } from './redis-connection.ts'

type Entry = Records['auditEvent']

/** The time after which a copy expires, so that unused copies need no memory. */
const LIFETIME_MS = 3_600_000
/** The maximum number of bytes of a copy. A larger reply could take longer than a command may. */
const MAX_BYTES = 2 * 1024 * 1024

/**
 * Each element of a list is the hash of the entry, the size of the list with this entry as the newest
 * one, and the JSON text of the entry, separated by line breaks. A single key is lost as a whole.
 */
const NEWEST = `
local first = redis.call('lindex', KEYS[1], 0) or '\\n0\\n'
local hash, bytes = string.match(first, '^([^\\n]*)\\n(%d+)\\n')`

/** Adds an entry with the previous hash, the hash and the text in `ARGV`, or removes the list. */
const ADD = `${NEWEST}
bytes = tonumber(bytes) + #ARGV[3]
if redis.call('llen', KEYS[1]) >= ${MAX_RECENT_EVENTS} then
  bytes = bytes - #string.match(redis.call('rpop', KEYS[1]), '{.*')
end
if hash ~= ARGV[1] or bytes > ${MAX_BYTES} then return redis.call('del', KEYS[1]) end
local element = ARGV[2] .. '\\n' .. bytes .. '\\n' .. ARGV[3]
if redis.call('lpush', KEYS[1], element) == 1 then
  redis.call('pexpire', KEYS[1], ${LIFETIME_MS})
end`

/** Returns the list if its newest entry has the hash in `ARGV`. */
const FIND = `${NEWEST}
if hash ~= ARGV[1] then return false end
return redis.call('lrange', KEYS[1], 0, -1)`

/** Replaces the list by the elements in `ARGV`, newest first. */
const FILL = `
redis.call('del', KEYS[1])
for _, element in ipairs(ARGV) do redis.call('rpush', KEYS[1], element) end
redis.call('pexpire', KEYS[1], ${LIFETIME_MS})`

/** The newest audit entries of each chain, in a list. */
export class RedisRecentEvents implements RecentEvents {
  readonly #commands: RedisConnection
  readonly #prefix: string

  constructor(commands: RedisConnection, prefix: string) {
    this.#commands = commands
    this.#prefix = prefix
  }

  async add(chain: string, entry: Entry): Promise<void> {
    if (!(await this.#commands.isAvailable())) return
    const text = JSON.stringify(entry)
    const { previousHash, hash } = entry
    if (text.length <= MAX_BYTES) await this.#run(ADD, chain, [previousHash, hash, text])
    else await this.#run(FILL, chain, [])
  }

  async find(chain: string, newestHash: string): Promise<readonly Entry[] | undefined> {
    const elements = await this.#run(FIND, chain, [newestHash])
    if (!Array.isArray(elements)) return undefined
    try {
      return elements.map((element: string) => JSON.parse(element.slice(element.indexOf('{'))))
    } catch {
      // An element was altered. The reader then fills the copy again.
      return undefined
    }
  }

  async fill(chain: string, entries: readonly Entry[]): Promise<void> {
    if (!(await this.#commands.isAvailable())) return
    let bytes = 0
    const elements = entries.toReversed().map((entry) => {
      const text = JSON.stringify(entry)
      bytes += Buffer.byteLength(text)
      return `${entry.hash}\n${bytes}\n${text}`
    })
    if (bytes <= MAX_BYTES) await this.#run(FILL, chain, elements.toReversed())
  }

  /** Runs a script. Returns `undefined` if Redis is unavailable, which the connection reports. */
  #run(script: string, chain: string, parameters: readonly string[]): Promise<unknown> {
    const list = `${this.#prefix}:audit:{${chain}}`
    const command = this.#commands.run((client) => client.eval(script, 1, list, ...parameters))
    return command.catch(() => undefined)
  }
}
