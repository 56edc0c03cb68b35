'use client'

import { createFlagHooks } from '@ff/react'
import { shopFlags } from './shop-flags.ts'

export const { FlagsProvider, useFlag, useFlagClient, useFlagStatus } = createFlagHooks(shopFlags)
