import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { BareLink } from '../src/cluster/link.ts'

interface LinkEnd extends BareLink {
  /** Simulates the end of the process at this side of the link. */
  end(): void
}

/**
 * Creates both ends of a link within this process. Messages are sent as JSON, which is the default
 * of `node:cluster`.
 */
export function linkPair(): readonly [LinkEnd, LinkEnd] {
  const { port1, port2 } = new MessageChannel()
  return [linkOver(port1), linkOver(port2)]
}

function linkOver(port: MessagePort): LinkEnd {
  return {
    send: (message) => port.postMessage(JSON.stringify(message)),
    onMessage: (listener) => port.on('message', (text) => listener(JSON.parse(text))),
    onEnd: (listener) => port.once('close', listener),
    end: () => port.close(),
  }
}
