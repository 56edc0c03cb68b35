import type { Segment } from '@ff/protocol/management'
import type { Names } from '../../draft/sentence.ts'

/** Returns the names that sentences about segments show. */
export function segmentNames(segments: readonly Pick<Segment, 'id' | 'name'>[]): Names {
  const names = new Map(segments.map(({ id, name }) => [id, name]))
  return {
    variation: (id) => id,
    flag: (id) => id,
    segment: (id) => names.get(id) ?? id,
  }
}
