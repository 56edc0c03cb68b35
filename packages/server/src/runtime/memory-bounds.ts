import { MAX_MESSAGE_BYTES } from '@ff/protocol/sdk'

/*
 * Limits on the memory that one process uses between a request or a change and its delivery. Not
 * included are compiled flag sets and the contexts of live clients, which the options
 * `maxLiveClients` and `maxHeldContextBytes` limit. Other caches have a flag set as a weak key and
 * live as long as it does.
 */

/** The maximum number of recently verified SDK keys that are cached in plain text. */
export const MAX_REMEMBERED_KEYS = 10_000

/** The maximum size, in bytes, of request bodies of one SDK key that wait for a later turn. */
export const MAX_QUEUED_BYTES_OF_KEY = 4 * 1024 * 1024

/** The maximum size, in bytes, of request bodies of all SDK keys that wait for a later turn. */
export const MAX_QUEUED_BYTES = 64 * 1024 * 1024

/** The maximum length, in UTF-16 units, of the texts that one flag-set diff caches. */
export const MAX_DIFF_LENGTH = 1024 * 1024

/**
 * The maximum number of bytes that wait to be sent to one client. A client above it receives no
 * updates until it has read enough.
 */
export const MAX_BUFFERED_BYTES = 256 * 1024

/** The maximum length, in UTF-16 units, of the unprocessed messages of one client. */
export const MAX_QUEUED_LENGTH = MAX_MESSAGE_BYTES

/** The maximum number of sockets without a valid `init`, for all addresses together. */
export const MAX_PENDING_SOCKETS = 4096

/** The maximum number of upgrades that wait for their handshake. */
export const MAX_QUEUED_UPGRADES = 8192

/**
 * The maximum number of rows of each kind that wait for the store: evaluation counts, request
 * counts by environment, and marks of evaluated flags.
 */
export const MAX_USAGE_ROWS = 20_000

/** The maximum number of context samples that wait for the store. */
export const MAX_SAMPLES = 2000

/** The maximum memory, in bytes, of the context samples that wait for the store. */
export const MAX_SAMPLE_BYTES = 8 * 1024 * 1024

/** The maximum number of context samples that are remembered as stored. */
export const MAX_KNOWN_SAMPLES = 10_000

/** The maximum number of user sketches in memory; each uses 16 KiB. */
export const MAX_SKETCHES = 1000
