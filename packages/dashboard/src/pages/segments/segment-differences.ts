import { isSame } from '../../draft/configuration.ts'
import { conditionChanges } from '../../draft/rule-differences.ts'
import type { SegmentFields } from '../../draft/segment-draft.ts'
import { type Names, shown, shownList } from '../../draft/sentence.ts'
import { messages } from '../../messages/messages.ts'
import type { Sentence } from '../../messages/phrases/fragment.ts'

const { changes } = messages.segments

/** Returns the changes of a segment as sentences, in the order of the page. */
export function segmentDifferences(
  before: SegmentFields,
  after: SegmentFields,
  names: Names,
): readonly Sentence[] {
  const found: Sentence[] = []
  for (const field of ['name', 'description', 'keyAttribute'] as const) {
    if (before[field] !== after[field]) {
      found.push(changes[field]([shown(before[field])], [shown(after[field])]))
    }
  }
  if (before.force !== after.force) found.push(after.force ? changes.forced : changes.notForced)
  if (before.logicalOp !== after.logicalOp) {
    found.push(changes.operator(before.logicalOp, after.logicalOp))
  }
  if (!isSame(before.rules, after.rules)) {
    found.push(...conditionChanges(before.rules, after.rules, names).map(changes.conditions))
  }
  for (const list of ['included', 'excluded'] as const) {
    const { add, remove } = after[list]
    if (add.length > 0) found.push(changes.keysAdded(list, add.length, shownList(add)))
    if (remove.length > 0) found.push(changes.keysRemoved(list, remove.length, shownList(remove)))
  }
  return found
}
