import { configcat } from './configcat.js'
import { flagd } from './flagd.js'
import { growthbook } from './growthbook.js'
import { launchdarkly } from './launchdarkly.js'
import { unleash } from './unleash.js'

/** @type {readonly import('../peer.ts').Peer[]} */
export const peers = [growthbook, flagd, configcat, launchdarkly, unleash]
