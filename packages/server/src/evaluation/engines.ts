import type { Extensions } from '@ff/core'
import { re2 } from '@ff/core/regex'
import { schemes } from '@ff/core/schemes'

/** What every flag set is compiled with, wherever it is published, checked, explained or served. */
export const engines: Extensions = { regex: re2, schemes }
