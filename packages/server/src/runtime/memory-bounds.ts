import { MAX_MESSAGE_BYTES } from '@ff/protocol/sdk'

/*
 * The memory that one process takes between a request or a change and its delivery, besides compiled
 * flag sets and the contexts of live clients, which `maxLiveClients` and `maxHeldContextBytes` of the
 * options bound. Other caches are keyed weakly by a flag set and last as long as it is in use.
 */

/** SDK keys that are cached in plain text because they were verified lately. */
export const MAX_REMEMBERED_KEYS = 10_000

/** Bytes of bodies of one SDK key that wait for a later turn. */
export const MAX_QUEUED_BYTES_OF_KEY = 4 * 1024 * 1024

/** Bytes of bodies of all SDK keys that wait for a later turn. */
export const MAX_QUEUED_BYTES = 64 * 1024 * 1024

/** UTF-16 units of texts that one flag-set diff caches for contexts that may have the same outcomes. */
export const MAX_DIFF_LENGTH = 1024 * 1024

/** Bytes on the way to one client; a client with more receives no updates until it has caught up. */
export const MAX_BUFFERED_BYTES = 256 * 1024

/** UTF-16 units of the messages of one client that wait for the one that is processed. */
export const MAX_QUEUED_LENGTH = MAX_MESSAGE_BYTES

/** Sockets without a valid `init`, of all addresses together. */
export const MAX_PENDING_SOCKETS = 4096

/** Upgrades that wait for their handshake. */
export const MAX_QUEUED_UPGRADES = 8192

/** Rows of counts, environments with requests, and marks of flags that wait for the store, each. */
export const MAX_USAGE_ROWS = 20_000

/** Samples of contexts that wait for the store. */
export const MAX_SAMPLES = 2000

/** Bytes that those samples take together. */
export const MAX_SAMPLE_BYTES = 8 * 1024 * 1024

/** Samples that are known to be in the store. */
export const MAX_KNOWN_SAMPLES = 10_000

/** Sketches of users; each takes 16 KiB. */
export const MAX_SKETCHES = 1000
