import { MAX_MESSAGE_BYTES } from '@ff/protocol/sdk'

/*
 * Limits on the memory that one process uses for requests, changes and usage that are not
 * completely processed. The option `maxFlagSetBytes` limits the compiled flag sets, and the options
 * `maxLiveClients` and `maxHeldContextBytes` the contexts of live clients. Other caches use flag sets as weak
 * keys, so that a cached value is freed together with its flag set.
 */

/** The maximum number of recently verified SDK keys that are cached in plain text. */
export const MAX_REMEMBERED_KEYS = 10_000

/** The maximum number of references to environments by keys that are cached. */
export const MAX_RESOLVED_ENVIRONMENTS = 1000

/** The maximum number of fallbacks whose last log line is remembered. */
export const MAX_LOGGED_FALLBACKS = 1000

/** The maximum total size, in bytes, of the queued request bodies of one SDK key. */
export const MAX_QUEUED_BYTES_OF_KEY = 4 * 1024 * 1024

/** The maximum total size, in bytes, of the queued request bodies of all SDK keys. */
export const MAX_QUEUED_BYTES = 64 * 1024 * 1024

/** The maximum total length, in UTF-16 units, of all texts in the cache of one flag-set diff. */
export const MAX_DIFF_LENGTH = 1024 * 1024

/**
 * The maximum number of bytes that wait to be sent to one client. While more bytes wait, the client
 * receives no updates.
 */
export const MAX_BUFFERED_BYTES = 256 * 1024

/** The maximum total length, in UTF-16 units, of the unprocessed messages of one client. */
export const MAX_QUEUED_LENGTH = MAX_MESSAGE_BYTES

/** The maximum number of sockets without a valid `init`, for all addresses together. */
export const MAX_PENDING_SOCKETS = 4096

/** The maximum number of upgrades that wait for their handshake. */
export const MAX_QUEUED_UPGRADES = 8192

/**
 * The maximum number of rows of evaluation counts that are not yet written to the store; each uses
 * about 300 bytes. Counts of the server itself mostly stay in arrays, with 12 bytes for each outcome
 * of each flag.
 */
export const MAX_COUNT_ROWS = 100_000

/**
 * The maximum number of rows of request counts that are not yet written to the store, and of last
 * evaluation times of flags. Both have one row for each environment.
 */
export const MAX_USAGE_ROWS = 20_000

/** The maximum number of context samples that are not yet written to the store. */
export const MAX_SAMPLES = 2000

/** The maximum total memory, in bytes, of context samples that are not yet written to the store. */
export const MAX_SAMPLE_BYTES = 8 * 1024 * 1024

/** The maximum number of stored context samples that one process remembers by name. */
export const MAX_KNOWN_SAMPLES = 10_000

/** The maximum number of sketches of distinct users in memory; each uses 16 KiB. */
export const MAX_SKETCHES = 1000

/**
 * The number of sketches at which no further sketch of a single flag is created, so that there is
 * room for those of all flags.
 */
export const MAX_FLAG_SKETCHES = 900

/** The maximum number of reports of local evaluations with one SDK key that are remembered by id. */
export const MAX_COUNTED_REPORTS_OF_KEY = 5000

/**
 * The maximum number of reports of local evaluations that are remembered by id. Each uses 200 to 400
 * bytes, and at most about 600 bytes if each has a different SDK key.
 */
export const MAX_COUNTED_REPORTS = 25_000
