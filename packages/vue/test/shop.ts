import type { FlagSnapshot } from '@ff/client'
import { bool, defineFlags, oneOf } from '@ff/core/flag-types'
import { defineComponent, h, type PropType } from 'vue'
import { createFlags } from '../src/index.ts'

const shopFlags = defineFlags({ 'new-checkout': bool(false), theme: oneOf('light', 'dark') })
const connection = { url: 'http://127.0.0.1:4400', sdkKey: 'ff_1' }

// #region flags
const { provideFlags, useFlag } = createFlags(shopFlags)
// #endregion

// #region page
const Checkout = defineComponent(() => {
  const isNew = useFlag('new-checkout') // Readonly<ShallowRef<boolean>>
  return () => h('button', isNew.value ? 'Buy now' : 'Add to cart')
})

/** The page of a user. A server renders it with a snapshot, and the browser hydrates it. */
export const Shop = defineComponent({
  props: {
    user: { type: String, required: true },
    snapshot: { type: Object as PropType<FlagSnapshot>, required: true },
  },
  setup(props) {
    const context = () => ({ kind: 'user', key: props.user })
    provideFlags({ options: connection, context, snapshot: props.snapshot })
    return () => h(Checkout)
  },
})
// #endregion
