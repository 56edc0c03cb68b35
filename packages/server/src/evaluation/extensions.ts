import type { Extensions } from '@ff/core'
import { re2 } from '@ff/core/regex'
import { schemes } from '@ff/core/schemes'

/** The extensions with which every flag set is compiled: to check, to explain and to evaluate it. */
export const extensions: Extensions = { regex: re2, schemes }
