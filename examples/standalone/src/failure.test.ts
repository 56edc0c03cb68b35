import { FlagError } from '@ff/core'
import { expect, it } from 'vitest'
import { describeFailure } from './failure.ts'

it.each([
  'database or disk is full',
  'could not extend file "base/16384/16385": No space left on device',
  'ENOSPC: no space left on device, write',
])('The line about a full disk recommends to free space, not to restore a backup: %s', (reason) => {
  const error = new FlagError('UNAVAILABLE', 'The store could not complete the operation.', {
    cause: new Error(reason),
  })
  expect(describeFailure(error, 'Check FF_DATA_DIR, or restore a backup.')).toBe(
    `The store could not complete the operation: ${reason}. Free some space on the disk.`,
  )
})
