// @ts-check
// Runs where the only globals are those of the language, timers, `fetch` and `WebSocket`.
import { createFlagClient, memoryCache } from '@ff/client'
import { bool, defineFlags, oneOf } from '@ff/core/flag-types'
import { createFlagHooks } from '@ff/react'
import { createElement } from 'react'
// @ts-expect-error The package has no types.
import { create } from 'react-test-renderer'

const flags = defineFlags({ 'new-checkout': bool(false), theme: oneOf('light', 'dark') })
const context = { kind: 'user', key: 'u1' }

/** @param {number} ms */
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Renders flags over both kinds of clients. Returns what was shown before and after the first values.
 *
 * @param {{ readonly url: string, readonly sdkKey: string }} options
 * @returns {Promise<readonly unknown[]>}
 */
export async function run({ url, sdkKey }) {
  const { FlagsProvider, useFlag, useFlagStatus } = createFlagHooks(flags)
  const Shown = () => {
    const { connection } = useFlagStatus()
    return `${useFlag('theme')} ${useFlag('new-checkout')} ${connection}`
  }
  const client = createFlagClient({ url, sdkKey, flags, context, cache: memoryCache() })
  await client.ready()
  const options = { url, sdkKey, onError: () => {} }
  /** @param {object} props */
  const page = (props) =>
    createElement(/** @type {any} */ (FlagsProvider), props, createElement(Shown))
  const shown = []
  for (const props of [{ client }, { options, context }]) {
    const tree = create(page(props))
    await wait(0)
    shown.push(tree.toJSON())
    while (!String(tree.toJSON()).includes('socket')) {
      await wait(10)
    }
    shown.push(tree.toJSON())
    tree.unmount()
  }
  client.close()
  return shown
}
