import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { FlagError } from '@ff/core'
import type { PasswordHasher, PasswordVerdict } from '../ports/password-hasher.ts'

/** The cost of one hash: 128 × 2^`log2N` × `r` bytes of memory, computed `p` times. */
export interface ScryptCost {
  readonly log2N: number
  readonly r: number
  readonly p: number
}

/** The default cost. One hash takes 128 MiB of memory and a few tenths of a second. */
const DEFAULT_COST: ScryptCost = { log2N: 17, r: 8, p: 1 }

/**
 * The number of concurrent hashes. Each hash occupies memory, and a thread of the pool that also
 * reads files and resolves host names. With a limit of one, many log-ins at the same time use at
 * most one core and 128 MiB.
 */
const AT_ONCE = 1
/**
 * The maximum number of waiting calls. Hashing the passwords of a full queue takes a few seconds.
 */
const MOST_WAITING = 16
const RETRY_AFTER_SECONDS = 2

const SALT_BYTES = 16
const HASH_BYTES = 32
const TEXT = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

interface Hashed {
  readonly cost: ScryptCost
  readonly salt: Buffer
  readonly hash: Buffer
}

/**
 * Hashes passwords with scrypt, one at a time, outside the main thread. The result contains the
 * cost (`$scrypt$ln=17,r=8,p=1$salt$hash`), so that the cost can be raised later.
 */
export class ScryptPasswordHasher implements PasswordHasher {
  readonly #cost: ScryptCost
  readonly #unknown: Hashed
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(cost: ScryptCost = DEFAULT_COST) {
    this.#cost = cost
    this.#unknown = { cost, salt: randomBytes(SALT_BYTES), hash: randomBytes(HASH_BYTES) }
  }

  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES)
    return toText({ cost: this.#cost, salt, hash: await this.#derive(password, this.#cost, salt) })
  }

  async verify(password: string, text: string | null): Promise<PasswordVerdict> {
    const known = text === null ? undefined : asHashed(text)
    const { cost, salt, hash } = known ?? this.#unknown
    const isRight = timingSafeEqual(await this.#derive(password, cost, salt), hash)
    if (!isRight || known === undefined) return 'wrong'
    const { log2N, r, p } = this.#cost
    return cost.log2N === log2N && cost.r === r && cost.p === p ? 'right' : 'outdated'
  }

  async #derive(password: string, cost: ScryptCost, salt: Buffer): Promise<Buffer> {
    await this.#acquire()
    try {
      return await derive(password.normalize('NFKC'), salt, cost)
    } finally {
      this.#release()
    }
  }

  async #acquire(): Promise<void> {
    if (this.#running < AT_ONCE) {
      this.#running += 1
      return
    }
    if (this.#waiting.length >= MOST_WAITING) throw tooBusy()
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Starts the call that has waited longest, if a call is waiting. */
  #release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running -= 1
    else next()
  }
}

function derive(password: string, salt: Buffer, { log2N, r, p }: ScryptCost): Promise<Buffer> {
  const N = 2 ** log2N
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r * p }
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, options, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}

function toText({ cost: { log2N, r, p }, salt, hash }: Hashed): string {
  return `$scrypt$ln=${log2N},r=${r},p=${p}$${toBase64(salt)}$${toBase64(hash)}`
}

/**
 * Parses a stored hash. Returns `undefined` if it is not in this hasher's format; no password
 * matches such a hash.
 */
function asHashed(text: string): Hashed | undefined {
  const [, log2N, r, p, salt = '', hash = ''] = TEXT.exec(text) ?? []
  if (hash === '') return undefined
  const bytes = Buffer.from(hash, 'base64')
  if (bytes.byteLength !== HASH_BYTES) return undefined
  const cost = { log2N: Number(log2N), r: Number(r), p: Number(p) }
  return { cost, salt: Buffer.from(salt, 'base64'), hash: bytes }
}

function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

function tooBusy(): FlagError {
  const details = { seconds: RETRY_AFTER_SECONDS }
  return new FlagError('RATE_LIMITED', 'Too many log-ins at the same time. Try again.', { details })
}
